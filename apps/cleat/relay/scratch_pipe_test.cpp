#include "relay/relay_scene_for_tests.hpp"
#include "relay/scratch_pipe.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <sys/resource.h>
#include <sys/socket.h>

namespace cleat::app::scratch_pipe_test {
namespace {

using net::socket_kind;

// A source and a sink for the pipe; the other ends are the test's.
struct two_connections
{
    explicit two_connections(int buffer = 0)
        : source{net::make_sockets(socket_kind::tcp)}
        , sink{net::make_sockets(socket_kind::tcp, buffer)}
        , from{w, std::move(source.first)}
        , to{w, std::move(sink.first)}
    {
        std::signal(SIGPIPE, SIG_IGN); // NOLINT: the only error is a wrong number.
    }

    void say(std::string_view text) const
    {
        REQUIRE(
            ::send(source.second.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
    }

    [[nodiscard]] std::string hear() const
    {
        std::array<char, 4096> block;
        ssize_t const n = ::recv(sink.second.get(), block.data(), block.size(), MSG_DONTWAIT);
        return {block.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
    }

    net::worker w;
    std::pair<unique_fd, unique_fd> source;
    std::pair<unique_fd, unique_fd> sink;
    net::socket from;
    net::socket to;
};

TEST_CASE("a pipe gives a sink what it has received, and then the source's end")
{
    two_connections both;
    scratch_pipe pipe;
    REQUIRE(pipe.open());
    CHECK(pipe.receive(both.from, 100).would_block);
    both.say("one two");
    CHECK(pipe.receive(both.from, 3).bytes == 3);
    CHECK_FALSE(pipe.empty());
    CHECK(pipe.send(both.to).bytes == 3);
    CHECK(pipe.empty());
    CHECK(pipe.receive(both.from, 100).bytes == 4);
    CHECK(pipe.send(both.to).bytes == 4);
    CHECK(both.hear() == "one two");
    both.source.second.reset();
    CHECK(pipe.receive(both.from, 100).error == error::closed);
}

TEST_CASE("what a full sink does not take is the connection's own, in order")
{
    two_connections both{4096};
    scratch_pipe pipe;
    REQUIRE(pipe.open());
    byte_queue unsent;
    std::string const part(100'000, 'x');
    std::size_t sent = 0;
    std::size_t received = 0;
    while (unsent.empty()) {
        both.say(part);
        for (std::size_t left = part.size(); left != 0 && unsent.empty();) {
            std::size_t const n = pipe.receive(both.from, left).bytes;
            received += n;
            left -= n;
            sent += pipe.send(both.to).bytes;
            REQUIRE(pipe.copy_rest(unsent));
        }
    }
    CHECK(sent + unsent.size() == received);
    CHECK(pipe.empty());
    CHECK_FALSE(both.to.entry().writable());
}

TEST_CASE("a sink that has broken leaves nothing in the pipe for the next connection")
{
    two_connections broken;
    scratch_pipe pipe;
    REQUIRE(pipe.open());
    broken.say("for the sink that is gone");
    REQUIRE(pipe.receive(broken.from, 100).bytes != 0);
    broken.to.shutdown_send();
    CHECK(pipe.send(broken.to).error == boost::system::errc::broken_pipe);
    CHECK(pipe.empty());

    two_connections next;
    REQUIRE(pipe.open());
    next.say("for the next");
    REQUIRE(pipe.receive(next.from, 100).bytes != 0);
    REQUIRE(pipe.send(next.to).bytes != 0);
    CHECK(next.hear() == "for the next");
}

TEST_CASE("without descriptors there is no pipe, and later there is one")
{
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit const none{0, before.rlim_max};
    scratch_pipe pipe;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    bool const opened = pipe.open();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_FALSE(opened);
    CHECK(pipe.open());
}

} // namespace
} // namespace cleat::app::scratch_pipe_test
