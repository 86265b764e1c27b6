// A server gets another TLS context while clients are connected.

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/net/server.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>
#include <cleat/net/worker_contexts.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace cleat::net::server_reload_test {
namespace {

tls::test_identity const& identity_called(std::string const& name)
{
    static std::vector<std::pair<std::string, tls::test_identity>> const all = [] {
        std::vector<std::pair<std::string, tls::test_identity>> made;
        for (std::string const each : {"old", "new", "newer"})
            made.emplace_back(each, tls::make_identity({.names = {"a.test"}, .common_name = each}));
        return made;
    }();
    return std::ranges::find(all, name, [](auto const& each) { return each.first; })->second;
}

/// settings_with are a server's, with the certificate of this common name.
tls::context_spec settings_with(std::string const& common_name)
{
    tls::context_spec spec;
    spec.certificates.push_back(identity_called(common_name).source(common_name));
    return spec;
}

tls::context_spec client_settings()
{
    tls::context_spec spec;
    spec.role = tls::role::client;
    spec.server_name = "a.test";
    spec.keep_sessions = true;
    return spec;
}

tls::context const& client_context()
{
    static tls::context const any_version{client_settings()};
    return any_version;
}

asio::awaitable<void> echo(connection c)
{
    std::string block(1000, '\0');
    for (;;) {
        auto const [ec, n] = co_await c.stream.async_read_some(
            asio::buffer(block), asio::as_tuple(asio::use_awaitable));
        if (ec)
            break;
        co_await asio::async_write(c.stream, asio::buffer(block, n), asio::use_awaitable);
    }
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

// The stream leaves its handler, which returns at once.
asio::awaitable<void> echo_elsewhere(connection c)
{
    executor const here = c.stream.get_executor();
    asio::co_spawn(here, echo(std::move(c)), asio::detached);
    co_return;
}

server_spec spec_with(tls::context_spec settings, std::size_t workers)
{
    server_spec spec;
    spec.tls = std::move(settings);
    spec.workers = workers;
    spec.pin = false;
    return spec;
}

/// client is a connection whose calls block.
class client
{
public:
    explicit client(
        server const& target, tls::context const& context = client_context(),
        tls::session const* offered = nullptr)
        : engine_{context}, fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        address const& place = target.local_address();
        REQUIRE(::connect(fd_.get(), place.data(), place.size) == 0);
        set_no_delay(fd_.get());
        if (offered != nullptr)
            engine_.resume(*offered);
        handshake_ = call([](tls::engine& e, tls::wire& w) { return e.handshake(w); });
    }

    [[nodiscard]] bool established() const { return !handshake_.error; }
    [[nodiscard]] bool resumed() const { return engine_.info().resumed; }

    /// shown is the common name of the server's certificate.
    [[nodiscard]] std::string shown() const { return engine_.peer_common_name(); }

    std::string ask(std::string_view text)
    {
        std::span<std::byte const> const pieces[] = {bytes_of(text)};
        call([&](tls::engine& e, tls::wire& w) { return e.write(w, pieces); });
        std::array<std::byte, 1000> block;
        tls::step const s = call([&](tls::engine& e, tls::wire& w) { return e.read(w, block); });
        return text_of(std::span{block}.first(s.bytes));
    }

    [[nodiscard]] std::vector<tls::session> take_sessions() { return engine_.take_sessions(); }

    /// close ends TLS, and waits for the server's end.
    void close()
    {
        call([](tls::engine& e, tls::wire& w) { return e.close(w); });
        std::byte none{};
        call([&](tls::engine& e, tls::wire& w) { return e.read(w, {&none, 1}); });
    }

private:
    template <class Op>
    tls::step call(Op op)
    {
        for (;;) {
            tls::wire w{in_, room_, ended_};
            tls::step const s = op(engine_, w);
            in_.erase(in_.begin(), in_.end() - static_cast<std::ptrdiff_t>(w.in.size()));
            std::size_t const made = room_.size() - w.out.size();
            // A server that has stopped may have closed the connection.
            if (::send(fd_.get(), room_.data(), made, MSG_NOSIGNAL) < 0)
                ended_ = true;
            if (s.next != tls::want::input || s.bytes != 0)
                return s;
            receive();
        }
    }

    void receive()
    {
        std::array<std::byte, 20'000> block;
        ssize_t const n = ::recv(fd_.get(), block.data(), block.size(), 0);
        ended_ = n <= 0;
        if (n > 0)
            in_.insert(in_.end(), block.begin(), block.begin() + n);
    }

    tls::engine engine_;
    unique_fd fd_;
    std::vector<std::byte> in_;
    std::vector<std::byte> room_ = std::vector<std::byte>(64 * 1024);
    bool ended_ = false;
    tls::step handshake_;
};

std::string shown_by(server const& target)
{
    client c{target};
    REQUIRE(c.established());
    c.close();
    return c.shown();
}

/// traced is a spec whose contexts have a trace in their verify_function, which shows when the last
/// copy is destroyed.
struct traced
{
    explicit traced(std::string const& common_name) : spec{settings_with(common_name)}
    {
        spec.verify = tls::peer_verification::optional;
        spec.verify_authorities = identity_called(common_name).certificate_pem;
        auto const trace =
            std::shared_ptr<std::promise<void>>{new std::promise<void>, [](std::promise<void>* p) {
                                                    p->set_value();
                                                    delete p;
                                                }};
        gone = trace->get_future();
        spec.verify_function = [trace](bool preverified, x509_store_ctx_st*) {
            return preverified;
        };
    }

    [[nodiscard]] bool is_gone() const
    {
        return gone.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    }

    tls::context_spec spec;
    std::future<void> gone;
};

} // namespace

TEST_CASE("a reload shows new connections the new certificate, and an older one goes on")
{
    server one{spec_with(settings_with("old"), 2), echo};
    client before{one};
    CHECK(before.shown() == "old");
    one.reload(settings_with("new"));
    for (int i = 0; i < 20; ++i) // Both workers have it.
        CHECK(shown_by(one) == "new");
    CHECK(before.ask("still here") == "still here");
    one.reload(settings_with("newer"));
    CHECK(shown_by(one) == "newer");
    CHECK(before.ask("and again") == "and again");
    before.close();
    CHECK(one.drain(std::chrono::minutes{1}) == 0);
}

TEST_CASE("a reload that is refused changes nothing")
{
    server one{spec_with(settings_with("old"), 2), echo};
    tls::context_spec mixed = settings_with("new");
    mixed.certificates.front().private_key = identity_called("old").key_pem;
    CHECK_THROWS_AS(one.reload(mixed), tls::spec_error);
    CHECK_THROWS_AS(one.reload(tls::context_spec{}), tls::spec_error);
    for (int i = 0; i < 20; ++i)
        CHECK(shown_by(one) == "old");
    one.reload(settings_with("new")); // A later reload is none the worse for it.
    CHECK(shown_by(one) == "new");
}

TEST_CASE("sessions resume after a reload that keeps the ticket secret")
{
    for (tls::protocol_version const version : tls::both_versions) {
        tls::context_spec settings = client_settings();
        settings.version_min = settings.version_max = version;
        tls::context const context{settings};
        std::shared_ptr<tls::ticket_secret const> const secret = tls::new_ticket_secret();

        tls::context_spec first = settings_with("old");
        first.tickets = secret;
        server one{spec_with(first, 2), echo};
        client before{one, context};
        CHECK(before.ask("tickets come before this") == "tickets come before this");
        std::vector<tls::session> const sessions = before.take_sessions();
        REQUIRE(!sessions.empty());

        tls::context_spec second = settings_with("new");
        second.tickets = secret;
        one.reload(second);
        client after{one, context, &sessions.back()};
        CHECK(after.established());
        CHECK(after.resumed());

        second.tickets = tls::new_ticket_secret();
        one.reload(second);
        client last{one, context, &sessions.back()};
        CHECK(last.established());
        CHECK(!last.resumed());
        CHECK(last.shown() == "new");
    }
}

TEST_CASE("sessions resume after a reload that changes a certificate of the store")
{
    temporary_folder const folder;
    auto const put = [&folder](std::string const& common_name) {
        tls::test_identity const& made = identity_called(common_name);
        folder.write("a.pem", made.certificate_pem + made.key_pem);
    };
    tls::test_identity const other = tls::make_identity({.names = {"b.test"}});
    folder.write("b.pem", other.certificate_pem + other.key_pem);
    put("old");
    tls::context_spec settings;
    settings.certificate_store = {
        .folders = {{.path = folder.path()}}, .files = {{.chain = folder.path() / "b.pem"}}};
    settings.tickets = tls::new_ticket_secret();
    server one{spec_with(settings, 2), echo};
    client before{one};
    CHECK(before.shown() == "old");
    CHECK(before.ask("tickets come before this") == "tickets come before this");
    std::vector<tls::session> const sessions = before.take_sessions();
    REQUIRE(!sessions.empty());

    put("new");
    one.reload(settings);
    CHECK(before.ask("still here") == "still here");
    CHECK(shown_by(one) == "new");
    client after{one, client_context(), &sessions.back()};
    CHECK(after.established());
    CHECK(after.resumed());
}

TEST_CASE("a replaced context ends with its last stream")
{
    traced first{"old"};
    server one{spec_with(std::move(first.spec), 2), echo};
    client before{one};
    CHECK(before.ask("old") == "old");

    traced second{"new"};
    one.reload(std::move(second.spec));
    CHECK(!first.is_gone());
    CHECK(!second.is_gone());

    one.reload(settings_with("newer"));
    CHECK(second.is_gone()); // No stream had it.
    CHECK(!first.is_gone());
    CHECK(before.ask("still") == "still");
    before.close();
    first.gone.wait();
}

TEST_CASE("a stream that has left its handler keeps its context")
{
    traced first{"old"};
    server one{spec_with(std::move(first.spec), 1), echo_elsewhere};
    client before{one};
    CHECK(before.ask("old") == "old");
    one.reload(settings_with("new"));
    CHECK(before.ask("still") == "still");
    CHECK(!first.is_gone());
    before.close();
    first.gone.wait();
}

TEST_CASE("a server that has stopped keeps no trace of its settings beyond its end")
{
    traced first{"old"};
    {
        server one{spec_with(std::move(first.spec), 2), echo};
        client const open{one};
    }
    CHECK(first.is_gone());
}

TEST_CASE("reloads disturb no handshake")
{
    server one{spec_with(settings_with("old"), 2), echo};
    std::atomic<bool> done{false};
    std::atomic<int> handshakes{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 2; ++i)
        clients.emplace_back([&] {
            tls::context const own{client_settings()};
            while (!done) {
                client c{one, own};
                if (!c.established() || c.shown().empty() || c.ask("hello") != "hello")
                    ++wrong;
                c.close();
                ++handshakes;
            }
        });
    for (int i = 0; i < 10 || handshakes < 100; ++i) {
        one.reload(settings_with("new"));
        one.reload(settings_with("newer"));
    }
    done = true;
    for (std::thread& each : clients)
        each.join();
    CHECK(wrong == 0);
    CHECK(shown_by(one) == "newer");
}

TEST_CASE("after two reloads at the same time all workers have the same context")
{
    server one{spec_with(settings_with("old"), 4), echo};
    for (int round = 0; round < 10; ++round) {
        std::future<void> other =
            std::async(std::launch::async, [&] { one.reload(settings_with("new")); });
        one.reload(settings_with("newer"));
        other.get();
        std::string const shown = shown_by(one);
        CHECK(shown != "old");
        for (int i = 0; i < 20; ++i)
            CHECK(shown_by(one) == shown);
    }
}

TEST_CASE("a worker that has the later of two contexts does not take the earlier one")
{
    std::list<counted_context> first;
    first.emplace_back(settings_with("old"));
    worker_contexts contexts{std::move(first)};
    std::list<counted_context> earlier;
    std::list<counted_context> later;
    earlier.emplace_back(settings_with("new"));
    later.emplace_back(settings_with("newer"));
    tls::context const* const expected = &later.front().context;
    contexts.replace(std::move(later), 2);
    contexts.replace(std::move(earlier), 1);
    CHECK(&contexts.present() == expected);
    contexts.wait_for(1); // Both calls of reload return.
    contexts.wait_for(2);
    contexts.end();
    contexts.wait_for(3);
    CHECK(contexts.ended());
}

TEST_CASE("a server that drains can be reloaded, and a stopped one does not wait")
{
    server one{spec_with(settings_with("old"), 2), echo};
    std::optional<client> before{one};
    CHECK(before->ask("old") == "old");
    std::future<std::size_t> left =
        std::async(std::launch::async, [&] { return one.drain(std::chrono::minutes{1}); });
    one.reload(settings_with("new"));
    CHECK(before->ask("still") == "still");
    before->close();
    CHECK(left.get() == 0);
    one.reload(settings_with("newer"));
    CHECK_THROWS_AS(one.reload(tls::context_spec{}), tls::spec_error);
}

TEST_CASE("a stop ends a reload that is under way")
{
    for (int i = 0; i < 10; ++i) {
        server one{spec_with(settings_with("old"), 2), echo};
        std::promise<void> begun;
        std::thread reloads{[&] {
            begun.set_value();
            for (int n = 0; n < 3; ++n)
                one.reload(settings_with("new"));
        }};
        begun.get_future().wait();
        one.stop();
        reloads.join();
    }
}

} // namespace cleat::net::server_reload_test
