// A channel on a real socket pair whose buffers are as small as the kernel allows, so that sends
// are partial; at the other end a client engine in memory.

#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/tls_peer_for_tests.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <vector>

namespace cleat::net::channel_test {
namespace {

using after_write = channel::after_write;

progress write(
    channel& c, int fd, std::span<std::byte const> piece,
    after_write addition = after_write::nothing)
{
    channel::piece const pieces[] = {piece};
    return c.write(fd, pieces, addition);
}

// A server's channel and a client. Their handshake is done unless `shaken` is false.
struct channel_scene
{
    explicit channel_scene(
        socket_kind kind = socket_kind::unix_pair, int buffer = 0, bool shaken = true)
        : ends{make_sockets(kind, buffer)}
        , client{contexts().client, ends.second.get()}
        , server{contexts().server}
    {
        if (shaken)
            shake();
    }

    void shake()
    {
        for (int i = 0; i < 100 && !(client.established() && server.engine().established()); ++i) {
            client.handshake();
            REQUIRE(!server.handshake(fd()).error);
        }
        REQUIRE(client.established());
    }

    [[nodiscard]] int fd() const { return ends.first.get(); }

    // Reads until the server has to wait, or finds the end.
    progress read_all(
        std::vector<std::byte>& received, std::size_t buffer = 4096, bool ended = false)
    {
        std::vector<std::byte> plaintext(buffer);
        for (int i = 0; i < 100'000; ++i) {
            progress const p = server.read(fd(), plaintext, limits::turn_min, ended);
            received.insert(
                received.end(), plaintext.begin(),
                plaintext.begin() + static_cast<std::ptrdiff_t>(p.bytes));
            if (p.error || p.next != wait::none)
                return p;
        }
        FAIL("a read that never waits");
        return {};
    }

    std::pair<unique_fd, unique_fd> ends;
    tls_peer client;
    channel server;
};

TEST_CASE("a handshake without input waits to read")
{
    channel_scene s{socket_kind::unix_pair, 0, false};
    CHECK(s.server.handshake(s.fd()).next == wait::readable);
    CHECK(!s.server.engine().established());
    s.shake();
    CHECK(s.server.handshake(s.fd()).next == wait::none);
}

TEST_CASE("a handshake whose flight does not fit the socket goes on when there is room")
{
    channel_scene s{socket_kind::unix_pair, 0, false};
    s.client.handshake();
    fill(s.fd());
    progress const p = s.server.handshake(s.fd());
    CHECK(p.next == wait::writable);
    CHECK(s.server.unsent());
    CHECK(s.server.handshake(s.fd()).next == wait::writable);
    drain(s.ends.second.get());
    s.shake();
    CHECK(!s.server.unsent());
}

TEST_CASE("a peer that leaves in the handshake has truncated it")
{
    channel_scene s{socket_kind::unix_pair, 0, false};
    s.client.handshake();
    CHECK(s.server.handshake(s.fd()).next == wait::readable);
    s.client.shutdown_send();
    CHECK(s.server.handshake(s.fd()).error == error::truncated);
}

TEST_CASE("a failed handshake tells the peer by an alert")
{
    channel_scene s{socket_kind::unix_pair, 0, false};
    s.client.send_raw("GET / HTTP/1.1\r\n\r\n");
    CHECK(s.server.handshake(s.fd()).error == error::http_request);
}

TEST_CASE("the ticket of the handshake leaves with the first answer, in one segment")
{
    channel_scene s{socket_kind::tcp};
    CHECK(s.client.receive_raw() == 0); // All of the server's part of the handshake has been read.
    CHECK(s.server.holds_records());
    unsigned const before = segments_sent(s.fd());
    REQUIRE(write(s.server, s.fd(), bytes_of("hello")).bytes == 5);
    // Two records at least, and one packet: the kernel counts them.
    CHECK(segments_sent(s.fd()) == before + 1);
    std::size_t const answer = 5 + 17 + limits::record_header_size;
    CHECK(s.client.receive_raw() > answer + limits::record_header_size);
    CHECK(s.client.plaintext() == "hello");
}

TEST_CASE("a ticket without an answer can leave by itself, once")
{
    channel_scene s{socket_kind::tcp};
    s.client.receive_raw();
    CHECK(s.server.holds_records());
    s.server.flush_held(s.fd());
    CHECK(!s.server.holds_records());
    CHECK(s.client.receive_raw() > limits::record_header_size);
    s.server.flush_held(s.fd());
    REQUIRE(write(s.server, s.fd(), bytes_of("hello")).bytes == 5);
    CHECK(s.client.receive_raw() == 5 + 17 + limits::record_header_size); // The answer alone.
    CHECK(s.client.plaintext() == "hello");
}

TEST_CASE("a ticket that the socket does not take goes on waiting for the first answer")
{
    channel_scene s{socket_kind::unix_pair};
    s.client.receive_raw();
    fill(s.fd());
    s.server.flush_held(s.fd());
    CHECK(s.server.holds_records());
    CHECK(!s.server.unsent());
    drain(s.ends.second.get());
    REQUIRE(write(s.server, s.fd(), bytes_of("hello")).bytes == 5);
    s.client.receive_raw();
    CHECK(s.client.plaintext() == "hello");
}

TEST_CASE("bytes that a full socket does not take are kept and flushed in order, and no others are "
          "taken meanwhile")
{
    for (socket_kind const kind : {socket_kind::unix_pair, socket_kind::tcp}) {
        channel_scene s{kind, 4096};
        std::vector<std::byte> const data = pattern(1'000'000);
        std::vector<std::byte> expected;
        std::size_t blocked = 0;
        std::size_t sent = 0;
        while (sent < data.size()) {
            std::size_t const n = std::min<std::size_t>(100'000, data.size() - sent);
            progress p = write(s.server, s.fd(), std::span{data}.subspan(sent, n));
            REQUIRE(!p.error);
            CHECK(p.bytes == n);
            sent += p.bytes;
            CHECK((p.next == wait::writable) == s.server.unsent());
            while (p.next == wait::writable) {
                ++blocked;
                // Older bytes first: a write takes nothing. (TCP may have made room by itself.)
                if (kind == socket_kind::unix_pair) {
                    progress const q = write(s.server, s.fd(), bytes_of("no"));
                    CHECK(q.next == wait::writable);
                    CHECK(q.bytes == 0);
                }
                s.client.receive_raw();
                p = s.server.flush(s.fd());
                REQUIRE(!p.error);
            }
        }
        CHECK(blocked > 0);
        s.client.receive_raw();
        CHECK(s.client.bytes() == data);
    }
}

TEST_CASE(
    "a write of more than can be kept takes what fits, also where the socket takes none of it")
{
    channel_scene s{socket_kind::unix_pair, 4096};
    std::vector<std::byte> const data = pattern(8 << 20);
    std::size_t sent = 0;
    fill(s.fd());
    while (sent < data.size()) {
        progress p = write(s.server, s.fd(), std::span{data}.subspan(sent));
        REQUIRE(!p.error);
        sent += p.bytes;
        CHECK(p.bytes <= limits::unsent_max);
        while (p.next == wait::writable) {
            if (sent == p.bytes)
                drain(s.ends.second.get());
            s.client.receive_raw();
            p = s.server.flush(s.fd());
            REQUIRE(!p.error);
        }
        s.client.receive_raw();
    }
    CHECK(s.client.bytes() == data);
}

TEST_CASE("a client's Finished waits for its first write with last_flight::with_first_write")
{
    using flight = channel::last_flight;
    for (flight const departure : {flight::at_once, flight::with_first_write}) {
        auto ends = make_sockets(socket_kind::tcp);
        channel server{contexts().server};
        channel client{contexts().client};
        int const fd = ends.second.get();
        // Its first call reads nothing: nothing can have come.
        REQUIRE(client.handshake(fd, false, departure).next == wait::readable);
        REQUIRE(server.handshake(ends.first.get()).next == wait::readable);
        REQUIRE(client.handshake(fd, false, departure).next == wait::none);
        CHECK(!client.unsent());
        CHECK(
            server.handshake(ends.first.get()).next ==
            (departure == flight::at_once ? wait::none : wait::readable));
        std::array<std::byte, 100> buffer{};
        REQUIRE(write(client, fd, bytes_of("ping")).bytes == 4);
        static_cast<void>(server.handshake(ends.first.get()));
        REQUIRE(server.engine().established());
        progress const p = server.read(ends.first.get(), buffer, limits::turn_min);
        CHECK(text_of(std::span{buffer}.first(p.bytes)) == "ping");
    }
}

TEST_CASE("close_notify behind an answer is the last that the client reads")
{
    channel_scene s;
    progress const p = write(s.server, s.fd(), bytes_of("bye"), after_write::close_notify);
    CHECK(p.bytes == 3);
    CHECK(p.next == wait::none);
    s.client.receive_raw();
    CHECK(s.client.plaintext() == "bye");
    CHECK(s.client.end() == error::closed);
    CHECK(write(s.server, s.fd(), bytes_of("more")).error == error::write_after_close);
    CHECK(!s.server.close(s.fd()).error); // Once is enough.

    // The other half still works.
    s.client.write("and you?");
    std::vector<std::byte> got;
    CHECK(s.read_all(got).next == wait::readable);
    CHECK(text_of(got) == "and you?");
}

TEST_CASE("an answer and its close_notify share a packet")
{
    channel_scene s{socket_kind::tcp};
    REQUIRE(
        write(s.server, s.fd(), bytes_of("hello")).bytes == 5); // The ticket is gone after this.
    s.client.receive_raw();
    unsigned const before = segments_sent(s.fd());
    REQUIRE(write(s.server, s.fd(), bytes_of("bye"), after_write::close_notify).bytes == 3);
    CHECK(segments_sent(s.fd()) == before + 1);
    s.client.receive_raw();
    CHECK(s.client.plaintext() == "hellobye");
    CHECK(s.client.end() == error::closed);
}

TEST_CASE("a close_notify that the socket does not take leaves with the flush")
{
    channel_scene s;
    fill(s.fd());
    progress const p = s.server.close(s.fd());
    CHECK(!p.error);
    CHECK(p.next == wait::writable);
    drain(s.ends.second.get());
    CHECK(s.server.flush(s.fd()).next == wait::none);
    CHECK(!s.server.unsent());
    s.client.receive_raw();
    CHECK(s.client.end() == error::closed);
}

TEST_CASE(
    "bytes are read into small buffers, and unread reports those for which no event will come")
{
    channel_scene s;
    std::vector<std::byte> const data = pattern(50'000);
    s.client.write(data);
    std::vector<std::byte> got;
    std::array<std::byte, 100> little{};
    progress const first = s.server.read(s.fd(), little, limits::turn_min);
    CHECK(first.bytes == little.size());
    CHECK(first.next == wait::none);
    CHECK(s.server.unread());
    got.assign(little.begin(), little.end());
    CHECK(s.read_all(got, little.size()).next == wait::readable);
    CHECK(got == data);
    CHECK(!s.server.unread());
}

TEST_CASE("FIN hides none of the bytes before it, however small the buffer is")
{
    for (std::size_t const buffer : {1U, 7U, 100U, 5000U, 100'000U})
        for (bool const hint : {false, true}) {
            channel_scene s;
            std::vector<std::byte> const data = pattern(40'000);
            s.client.write(data);
            s.client.close();
            s.client.shutdown_send();
            std::vector<std::byte> got;
            progress const p = s.read_all(got, buffer, hint);
            CHECK_MESSAGE(
                p.error == error::closed, "buffer of " << buffer << ": " << p.error.message());
            CHECK(got == data);
        }
}

TEST_CASE(
    "FIN without close_notify is a truncation, in the call that reads the last bytes or the next")
{
    for (bool const hint : {false, true}) {
        channel_scene s;
        s.client.write("half");
        s.client.shutdown_send();
        std::vector<std::byte> got;
        progress p = s.read_all(got, 4096, hint);
        CHECK((p.next == wait::readable) == !hint);
        if (!hint)
            p = s.read_all(got);
        CHECK(p.error == error::truncated);
        CHECK(text_of(got) == "half");
    }
}

TEST_CASE("an end that came with the handshake is not forgotten")
{
    // FIN was known when the client's Finished was read: no further event will come for it.
    channel_scene s{socket_kind::unix_pair, 0, false};
    s.client.handshake();
    REQUIRE(s.server.handshake(s.fd()).next == wait::readable);
    s.client.handshake();
    s.client.shutdown_send();
    REQUIRE(s.server.handshake(s.fd(), true).next == wait::none);
    REQUIRE(s.server.engine().established());
    CHECK(s.server.unread());
    std::vector<std::byte> got;
    CHECK(s.read_all(got).error == error::truncated);
}

TEST_CASE("a request that came with the end of the handshake is unread, not lost")
{
    channel_scene s{socket_kind::unix_pair, 0, false};
    s.client.handshake();
    REQUIRE(s.server.handshake(s.fd()).next == wait::readable);
    s.client.handshake();
    s.client.write("early");
    REQUIRE(s.server.handshake(s.fd()).next == wait::none);
    CHECK(s.server.unread());
    std::vector<std::byte> got;
    CHECK(s.read_all(got).next == wait::readable);
    CHECK(text_of(got) == "early");
    CHECK(!s.server.unread());
}

TEST_CASE("an answer to a KeyUpdate that finds the socket full waits in its place")
{
    channel_scene s;
    REQUIRE(write(s.server, s.fd(), bytes_of("a")).bytes == 1); // The ticket leaves too.
    s.client.receive_raw();
    fill(s.fd());
    s.client.request_key_update("x");
    std::vector<std::byte> got;
    CHECK(s.read_all(got).next == wait::readable);
    CHECK(text_of(got) == "x");
    // Some libraries answer at once, others with the next record. Both wait for the socket.
    CHECK(write(s.server, s.fd(), bytes_of("b")).next == wait::writable);
    bool const taken = s.server.engine().established() && !s.server.flush(s.fd()).error;
    CHECK(taken);
    drain(s.ends.second.get());
    CHECK(s.server.flush(s.fd()).next == wait::none);
    REQUIRE(write(s.server, s.fd(), bytes_of("c")).bytes == 1);
    s.client.receive_raw();
    CHECK(!s.client.end());
    CHECK(s.client.plaintext().back() == 'c'); // "b" was taken only where the answer did not wait.
}

TEST_CASE("a broken socket is a system error, for reads and writes")
{
    channel_scene s{socket_kind::tcp};
    s.client.reset();
    std::vector<std::byte> got;
    CHECK(s.read_all(got).error == boost::system::errc::connection_reset);
    CHECK(write(s.server, s.fd(), bytes_of("x")).error == boost::system::errc::broken_pipe);
}

TEST_CASE("a client's channel and a server's exchange data")
{
    auto ends = make_sockets(socket_kind::unix_pair);
    channel server{contexts().server};
    channel client{contexts().client};
    for (int i = 0; i < 10; ++i) {
        REQUIRE(!client.handshake(ends.second.get()).error);
        REQUIRE(!server.handshake(ends.first.get()).error);
    }
    REQUIRE(client.engine().established());
    REQUIRE(write(client, ends.second.get(), bytes_of("ping")).bytes == 4);
    std::array<std::byte, 100> buffer{};
    progress const p = server.read(ends.first.get(), buffer, limits::turn_min);
    CHECK(text_of(std::span{buffer}.first(p.bytes)) == "ping");
}

} // namespace
} // namespace cleat::net::channel_test
