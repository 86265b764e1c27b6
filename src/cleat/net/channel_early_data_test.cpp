// A client's channel that begins with 0-RTT data (RFC 8446, section 2.3). A server in memory, at
// the other end of a socket, takes it. The socket takes all of it, or only a part.

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

namespace cleat::net::channel_early_data_test {
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

// The server's end: an engine, the ciphertext received for it, and the early data that it read.
class early_data_server
{
public:
    early_data_server(tls::context const& context, int fd) : engine_{context}, fd_{fd} {}

    // Goes on with the handshake as far as the received bytes allow.
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
        bytes plaintext(65536);
        plaintext.resize(call([&](tls::wire& w) { return engine_.read(w, plaintext); }).bytes);
        return plaintext;
    }

    [[nodiscard]] bool established() const { return engine_.established() && early_.finished; }
    [[nodiscard]] bytes const& early_data() const { return early_.received; }

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
        std::size_t const size = room.size() - w.out.size();
        if (size > 0)
            REQUIRE(::send(fd_, room.data(), size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
        return s;
    }

    tls::engine engine_;
    tls::early_data_server early_;
    int fd_;
    bytes in_;
};

// Calls both sides in turn until the handshake is done at both.
void shake(channel& client, int fd, early_data_server& server)
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

tls::session ticket(contexts_with_tickets const& contexts)
{
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{contexts.client};
    early_data_server server{contexts.server, far.get()};
    shake(client, near.get(), server);
    server.write(bytes_of("hello")); // The ticket comes with it.
    std::array<std::byte, 4096> buffer{};
    REQUIRE(client.read(near.get(), buffer, 65536).bytes == 5);
    std::vector<tls::session> given = client.engine().take_sessions();
    REQUIRE(given.size() == 1);
    REQUIRE(given.front().allows_early_data());
    return std::move(given.front());
}

TEST_CASE("early data leaves with the ClientHello, and is read before the handshake is done")
{
    contexts_with_tickets const contexts;
    tls::session const session = ticket(contexts);
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{contexts.client};
    client.engine().resume(session);
    early_data_server server{contexts.server, far.get()};

    bytes const request = pattern(700);
    channel::piece const pieces[] = {
        std::span{request}.first(100), std::span{request}.subspan(100)};
    progress const p = client.write_early(near.get(), pieces);
    CHECK(!p.error);
    CHECK(p.bytes == 700);
    CHECK(p.next == wait::none);
    CHECK(!client.engine().established());

    // The server reads the bytes sent so far; the client makes no other call.
    server.handshake();
    CHECK(server.early_data() == request);

    shake(client, near.get(), server);
    CHECK(client.engine().info().early == tls::early_data::accepted);
    CHECK(server.early_data() == request); // Once.
}

TEST_CASE("early data that the socket does not take waits in the channel, and leaves when it does")
{
    contexts_with_tickets const contexts;
    tls::session const session = ticket(contexts);
    auto const [near, far] = make_sockets(socket_kind::unix_pair, 1);
    fill(near.get());
    channel client{contexts.client};
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
    early_data_server server{contexts.server, far.get()};
    shake(client, near.get(), server);
    CHECK(!client.unsent());
    CHECK(client.engine().info().early == tls::early_data::accepted);
    CHECK(server.early_data() == request);

    progress const after = client.write(near.get(), std::array{channel::piece{bytes_of("more")}});
    CHECK(after.bytes == 4);
    CHECK(text_of(server.read()) == "more");
}

TEST_CASE("without a session no early data is taken, and the handshake is a full one")
{
    contexts_with_tickets const contexts;
    auto const [near, far] = make_sockets(socket_kind::unix_pair);
    channel client{contexts.client};
    early_data_server server{contexts.server, far.get()};
    bytes const request = pattern(300);
    progress const p = client.write_early(near.get(), std::array{channel::piece{request}});
    CHECK(!p.error);
    CHECK(p.bytes == 0);
    shake(client, near.get(), server);
    CHECK(client.engine().info().early == tls::early_data::not_offered);
    CHECK(server.early_data().empty());
}

TEST_CASE("a broken socket is an error of the first call")
{
    contexts_with_tickets const contexts;
    tls::session const session = ticket(contexts);
    auto [near, far] = make_sockets(socket_kind::unix_pair);
    far.reset();
    channel client{contexts.client};
    client.engine().resume(session);
    bytes const request = pattern(300);
    CHECK(is_reset(client.write_early(near.get(), std::array{channel::piece{request}}).error));
}

} // namespace
} // namespace cleat::net::channel_early_data_test
