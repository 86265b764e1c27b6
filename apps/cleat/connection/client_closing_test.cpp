// A client for whom there is no upstream learns that it got no answer, whatever it still sends.

#include "connection/client_closing.hpp"
#include "connection/handshake.hpp"

#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace cleat::app::client_closing_test {
namespace {

using namespace std::chrono_literals;
using net::socket_kind;

struct scene
{
    explicit scene(std::chrono::milliseconds longest)
        : ends{net::make_sockets(socket_kind::tcp)}
        , peer{net::contexts().client, ends.second.get()}
        , patience{longest}
    {
        serve();
    }

    // As in terminate(), the coroutine owns the client's socket.
    net::detached serve()
    {
        client_side client{
            net::socket{worker, std::move(ends.first)}, net::channel{net::contexts().server}};
        net::interrupt interrupt{worker};
        error_code const failed = co_await handshake(interrupt, client, {half_open});
        CHECK(!failed);
        client.ticket.begin();
        co_await refuse_client(interrupt, client, tls::fatal_alert::internal_error, patience);
        over = true;
    }

    template <class Condition>
    void run_until(Condition met)
    {
        auto const whole = [&]() -> net::detached {
            net::interrupt tick{worker};
            for (int i = 0; i < 60'000 && !met(); ++i) {
                tick.expires_in(1ms, error::idle_timeout);
                static_cast<void>(co_await net::pause(tick));
            }
            worker.stop();
        };
        whole();
        worker.run();
        CHECK(met());
    }

    net::worker worker;
    half_open_list half_open;
    std::pair<unique_fd, unique_fd> ends;
    net::tls_peer peer;
    std::chrono::milliseconds patience;
    bool over = false;
};

// OpenSSL sends no alert: its FIN comes without a close_notify.
bool is_failure(error_code end)
{
    return end == error::peer_alert || end == error::truncated;
}

TEST_CASE("a client that has sent a request reads an error and a FIN, and no reset")
{
    scene s{1h};
    bool asked = false;
    bool lasted = false;
    s.run_until([&] {
        if (!s.peer.established()) {
            s.peer.handshake();
        } else if (!std::exchange(asked, true)) {
            s.peer.write(std::string(300'000, 'x'));
        } else if (!lasted) {
            s.peer.flush();
            s.peer.receive_raw();
            lasted = s.peer.saw_fin() && s.peer.unsent() == 0 && !s.over;
            if (lasted)
                s.peer.shutdown_send(); // Only now does the connection end.
        }
        return s.over;
    });
    CHECK(lasted);
    CHECK(is_failure(s.peer.end()));
    CHECK(!s.peer.broken());
}

TEST_CASE("a client that never closes is closed after a time")
{
    scene s{50ms};
    s.run_until([&] {
        if (!s.peer.established())
            s.peer.handshake();
        return s.over;
    });
    s.peer.receive_raw();
    CHECK(is_failure(s.peer.end()));
}

} // namespace
} // namespace cleat::app::client_closing_test
