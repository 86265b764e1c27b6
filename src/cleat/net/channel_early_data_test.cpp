// A client's channel that begins with 0-RTT data (RFC 8446, section 2.3), at the other end of a
// socket a server in memory that takes it, on a socket that takes all of it and on one that does
// not.

#include <cleat/net/channel.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>
#include <cleat/tls/early_server_for_tests.hpp>
#include <cleat/tls/session.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <sys/socket.h>

namespace cleat::net {
namespace {

using bytes = std::vector<std::byte>;

// A server that takes early data, and a client that keeps its sessions.
struct contexts_with_tickets
{
    tls::context server{[] {
        tls::context_spec spec;
        spec.certificates = {tls::make_identity({.names = {"early.test"}}).source("early")};
        spec.tickets = std::make_shared<tls::ticket_secret const>(tls::ticket_secret{std::byte{7}});
        return spec;
    }()};
    tls::context client{[] {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.server_name = "early.test";
        spec.keep_sessions = true;
        return spec;
    }()};

    contexts_with_tickets() { tls::allow_early_data(server, true); }
};

// The server's end: what it has received, what it heard, what it said that the socket has not.
class listening_server
{
public:
    listening_server(tls::context const& use, int fd) : engine_{use}, fd_{fd} {}

    // Goes on with the handshake, as far as what has come allows.
    void handshake()
    {
        call([&](tls::wire& w) { return early_.handshake(engine_, w); });
    }

    void write(std::span<std::byte const> text)
    {
        std::span<std::byte const> const pieces[] = {text};
        call([&](tls::wire& w) { return engine_.write(w, pieces); });
    }

    bytes read()
    {
        bytes heard(65536);
        heard.resize(call([&](tls::wire& w) { return engine_.read(w, heard); }).bytes);
        return heard;
    }

    [[nodiscard]] bool established() const { return engine_.established() && early_.finished; }
    [[nodiscard]] bytes const& heard_early() const { return early_.received; }

private:
    template <class Op>
    tls::step call(Op op)
    {
        bytes got(1 << 20);
        ssize_t const n = ::recv(fd_, got.data(), got.size(), MSG_DONTWAIT);
        if (n > 0)
            in_.insert(in_.end(), got.begin(), got.begin() + n);
        bytes room(256 * 1024);
        tls::wire w{in_, room, false};
        tls::step const s = op(w);
        REQUIRE(!s.error);
        in_.erase(in_.begin(), in_.end() - static_cast<std::ptrdiff_t>(w.in.size()));
        std::size_t const said = room.size() - w.out.size();
        if (said > 0)
            REQUIRE(::send(fd_, room.data(), said, MSG_NOSIGNAL) == static_cast<ssize_t>(said));
        return s;
    }

    tls::engine engine_;
    tls::early_data_server early_;
    int fd_;
    bytes in_;
};

// Both until the handshake is done at both ends.
void shake(channel& client, int fd, listening_server& server)
{
    for (int turn = 0; turn < 100; ++turn) {
        progress const p = client.handshake(fd);
        REQUIRE(!p.error);
        server.handshake();
        if (p.next == wait::none && server.established())
            return;
    }
    FAIL("a handshake that does not end");
}

tls::session ticket(contexts_with_tickets const& with)
{
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{with.client};
    listening_server server{with.server, far.get()};
    shake(client, near.get(), server);
    server.write(bytes_of("hello")); // The ticket comes with it.
    std::array<std::byte, 4096> to{};
    REQUIRE(client.read(near.get(), to, 65536).bytes == 5);
    std::vector<tls::session> given = client.engine().take_sessions();
    REQUIRE(given.size() == 1);
    REQUIRE(given.front().allows_early_data());
    return std::move(given.front());
}

TEST_CASE("early data leaves with the ClientHello, and is heard before the handshake is done")
{
    contexts_with_tickets const with;
    tls::session const session = ticket(with);
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{with.client};
    client.engine().resume(session);
    listening_server server{with.server, far.get()};

    bytes const request = pattern(700);
    channel::piece const pieces[] = {
        std::span{request}.first(100), std::span{request}.subspan(100)};
    progress const p = client.write_early(near.get(), pieces);
    CHECK(!p.error);
    CHECK(p.bytes == 700);
    CHECK(p.next == wait::none);
    CHECK(!client.engine().established());

    // Nothing but what has left already: the client is not asked again.
    server.handshake();
    CHECK(server.heard_early() == request);

    shake(client, near.get(), server);
    CHECK(client.engine().info().early == tls::early_data::accepted);
    CHECK(server.heard_early() == request); // Once.
}

TEST_CASE("early data that the socket does not take waits here, and leaves when it does")
{
    contexts_with_tickets const with;
    tls::session const session = ticket(with);
    auto const [near, far] = make_sockets(socket_kind::unix_pair, 1);
    fill(near.get());
    channel client{with.client};
    client.engine().resume(session);

    bytes const request = pattern(9000);
    channel::piece const pieces[] = {request};
    progress p = client.write_early(near.get(), pieces);
    CHECK(!p.error);
    CHECK(p.bytes == 9000);
    CHECK(p.next == wait::writable);
    CHECK(client.unsent());
    CHECK(client.handshake(near.get()).next == wait::writable);

    drain(far.get()); // The filler; TLS has not begun.
    listening_server server{with.server, far.get()};
    shake(client, near.get(), server);
    CHECK(!client.unsent());
    CHECK(client.engine().info().early == tls::early_data::accepted);
    CHECK(server.heard_early() == request);

    progress const after = client.write(near.get(), std::array{channel::piece{bytes_of("more")}});
    CHECK(after.bytes == 4);
    CHECK(text_of(server.read()) == "more");
}

TEST_CASE("without a session nothing is taken, and the handshake is a full one")
{
    contexts_with_tickets const with;
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{with.client};
    listening_server server{with.server, far.get()};
    bytes const request = pattern(300);
    progress const p = client.write_early(near.get(), std::array{channel::piece{request}});
    CHECK(!p.error);
    CHECK(p.bytes == 0);
    shake(client, near.get(), server);
    CHECK(client.engine().info().early == tls::early_data::not_offered);
    CHECK(server.heard_early().empty());
}

TEST_CASE("a socket that is broken says so at once")
{
    contexts_with_tickets const with;
    tls::session const session = ticket(with);
    auto [near, far] = make_sockets(socket_kind::unix_pair);
    far.reset();
    channel client{with.client};
    client.engine().resume(session);
    bytes const request = pattern(300);
    CHECK(is_reset(client.write_early(near.get(), std::array{channel::piece{request}}).error));
}

} // namespace
} // namespace cleat::net
