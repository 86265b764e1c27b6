// A worker's socket, whose entry remembers events, under a channel that makes no system call in
// some of its calls.

#include <cleat/net/socket.hpp>
#include <cleat/net/socket_layer.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::net::socket_layer_test {
namespace {

struct idle_waiter : waiter
{
    idle_waiter()
    {
        wake = [](waiter&, error_code) noexcept {};
    }
};

struct layer_scene
{
    explicit layer_scene(std::pair<unique_fd, unique_fd> fds = make_sockets(socket_kind::unix_pair))
        : far{std::move(fds.second)}, near{w, std::move(fds.first)}
    {
        REQUIRE(!near.entry().wait_readable(registered)); // Puts it in the epoll set.
    }

    void shake()
    {
        for (int i = 0; i < 100 && !(client.established() && layer.engine().established()); ++i) {
            client.handshake();
            poll();
            REQUIRE(!layer.handshake(near).error);
        }
        REQUIRE(client.established());
        poll();
    }

    // Collects and dispatches events, as the worker's loop does.
    void poll()
    {
        w.readiness().wait({});
        w.readiness().dispatch();
    }

    std::string read(std::size_t size)
    {
        std::vector<std::byte> block(size);
        progress const p = layer.read(near, block);
        REQUIRE(!p.error);
        if (p.next == wait::readable)
            waits = !near.entry().readable();
        return text_of(std::span{block}.first(p.bytes));
    }

    worker w;
    unique_fd far;
    socket near;
    idle_waiter registered;
    tls_peer client{contexts().client, far.get()};
    socket_layer layer{contexts().server};
    bool waits = false; // The last read would wait for an event.
};

TEST_CASE("an event that comes while records still wait in the channel is not forgotten")
{
    layer_scene s;
    s.shake();
    std::string const whole_record(limits::plaintext_record_max, 'a');
    s.client.write(whole_record);
    s.client.write("second");
    s.poll();
    CHECK(s.read(whole_record.size()) == whole_record); // The second waits in the channel.
    s.client.write("third");
    s.poll();
    CHECK(s.near.entry().readable());

    CHECK(s.read(100) == "second"); // Without a system call, so the event of the third stays.
    CHECK(!s.waits);
    std::string rest = s.read(100);
    if (rest.empty() && !s.waits)
        rest = s.read(100);
    CHECK(rest == "third");
    CHECK(s.read(100).empty());
    CHECK(s.waits);
}

TEST_CASE("an event that comes while a flight of the handshake is stuck is not forgotten")
{
    layer_scene s;
    s.client.handshake();
    s.poll();
    fill(s.near.native_handle());
    CHECK(s.layer.handshake(s.near).next == wait::writable);
    CHECK(!s.near.entry().readable());
    REQUIRE(::send(s.far.get(), "more", 4, 0) == 4);
    s.poll();
    CHECK(s.near.entry().readable());
    CHECK(s.layer.handshake(s.near).next == wait::writable); // The flight is still stuck.
    CHECK(s.near.entry().readable());
}

TEST_CASE("a read that filled its buffer leaves its event")
{
    layer_scene s;
    s.shake();
    s.client.write(std::string(100'000, 'a'));
    s.poll();
    CHECK(s.read(1).size() == 1);
    CHECK(s.near.entry().readable());
}

} // namespace
} // namespace cleat::net::socket_layer_test
