// split_wire: two TLS engines joined in memory by a wire whose delivery a test controls.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cleat::tls {

inline constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

/// delivery is how bytes reach a side, and how much room each of its calls has for output.
struct delivery
{
    std::size_t chunk = whole;     ///< The most input of one call.
    std::size_t split_at = whole;  ///< No call's input has bytes on both sides of this offset.
    std::size_t cut_at = whole;    ///< FIN comes in place of the byte at this offset.
    std::size_t room = 256 * 1024; ///< The output of one call.
};

/// side is one engine and everything that its peer has sent.
struct side
{
    side(context const& settings, tls::delivery d) : engine{settings}, delivery{d} {}

    /// next_input is the input of the next call.
    [[nodiscard]] std::span<std::byte const> next_input() const
    {
        std::size_t const until = std::min({received.size(), delivery.cut_at});
        std::size_t end = consumed + std::min(delivery.chunk, until - consumed);
        if (consumed < delivery.split_at && delivery.split_at < end)
            end = delivery.split_at;
        return std::span{received}.subspan(consumed, end - consumed);
    }

    [[nodiscard]] bool ended() const { return fin || received.size() >= delivery.cut_at; }

    /// exhausted: the engine has read everything.
    [[nodiscard]] bool exhausted() const
    {
        return consumed >= std::min(received.size(), delivery.cut_at);
    }

    /// room is where a call writes its output, in memory of exactly that size.
    [[nodiscard]] std::span<std::byte> room()
    {
        if (room_size != delivery.room) {
            room_memory = std::make_unique_for_overwrite<std::byte[]>(delivery.room);
            room_size = delivery.room;
        }
        return {room_memory.get(), room_size};
    }

    /// receive appends bytes to what the peer has sent.
    void receive(std::span<std::byte const> bytes)
    {
        received.insert(received.end(), bytes.begin(), bytes.end());
    }

    tls::engine engine;
    tls::delivery delivery;
    std::vector<std::byte> received; ///< All that the peer has sent.
    std::size_t consumed = 0;        ///< As much of it the engine has read.
    bool fin = false;                ///< The peer has closed its half.
    std::size_t wants_output = 0;    ///< How often a call returned want::output.

    // Kept from call to call, and not filled: with a sanitizer both cost most of a test's time.
    std::unique_ptr<std::byte[]> room_memory;
    std::size_t room_size = 0;
};

/// drive calls operation(engine, wire) until it is done, has failed, or needs bytes that have not
/// come. Its output goes to the peer. An engine that asks for input that it already has fails the
/// test.
template <class Operation>
step drive(side& active, side& peer, Operation operation)
{
    std::span<std::byte> const room = active.room();
    std::size_t bytes = 0;
    for (;;) {
        std::span<std::byte const> const input = active.next_input();
        // FIN comes with the last byte.
        bool const last =
            active.ended() && active.consumed + input.size() >=
                                  std::min(active.received.size(), active.delivery.cut_at);
        wire w{input, room, last};
        step s = operation(active.engine, w);
        active.consumed += input.size() - w.in.size();
        std::size_t const written = room.size() - w.out.size();
        peer.receive(room.first(written));
        bytes += s.bytes;
        s.bytes = bytes;
        if (s.error || s.next == want::nothing)
            return s;
        if (s.next == want::output) {
            ++active.wants_output;
            if (written == 0)
                return s; // The room of a whole call is not enough.
            continue;
        }
        REQUIRE(w.in.empty()); // want::input promises it.
        if (active.exhausted() && (!active.ended() || last))
            return s;
    }
}

/// engine_pair is a client's and a server's engine with a wire between them.
struct engine_pair
{
    engine_pair(
        context const& server_context, context const& client_context, delivery to_server = {},
        delivery to_client = {})
        : server{server_context, to_server}, client{client_context, to_client}
    {
    }

    /// handshake runs the handshake until neither side can go on. Returns the last steps of server
    /// and client.
    std::pair<step, step> handshake()
    {
        auto const operation = [](engine& e, wire& w) { return e.handshake(w); };
        step client_step{want::input};
        step server_step{want::input};
        for (int turns = 0; turns < 16; ++turns) {
            std::size_t const before = server.received.size() + client.received.size();
            if (client_step.next != want::nothing)
                client_step = drive(client, server, operation);
            if (server_step.next != want::nothing)
                server_step = drive(server, client, operation);
            if (server.received.size() + client.received.size() == before)
                break;
        }
        return {server_step, client_step};
    }

    [[nodiscard]] bool established()
    {
        auto const [server_step, client_step] = handshake();
        return server_step.next == want::nothing && !server_step.error &&
               client_step.next == want::nothing && !client_step.error;
    }

    side server;
    side client;
};

/// read_all reads everything that has come, up to an end, and appends the plaintext to `text`.
inline step read_all(
    side& reader, side& peer, std::vector<std::byte>& text, std::size_t buffer = 65536)
{
    auto const memory = std::make_unique_for_overwrite<std::byte[]>(buffer);
    std::span<std::byte> const plaintext{memory.get(), buffer};
    for (;;) {
        step const s = drive(reader, peer, [&](engine& e, wire& w) {
            step const one = e.read(w, plaintext);
            std::span<std::byte> const bytes = plaintext.first(one.bytes);
            text.insert(text.end(), bytes.begin(), bytes.end());
            return one;
        });
        if (s.error || s.next != want::nothing)
            return s;
    }
}

/// write_all writes all the bytes, in as many calls as the room requires.
inline step write_all(side& writer, side& peer, std::span<std::byte const> bytes)
{
    return drive(writer, peer, [&](engine& e, wire& w) {
        std::span<std::byte const> const pieces[] = {bytes};
        step const s = e.write(w, pieces);
        bytes = bytes.subspan(s.bytes);
        return s;
    });
}

/// close sends close_notify.
inline step close(side& closer, side& peer)
{
    return drive(closer, peer, [](engine& e, wire& w) { return e.close(w); });
}

/// pattern is n bytes that differ from their neighbours and from those a record away.
inline std::vector<std::byte> pattern(std::size_t n)
{
    std::vector<std::byte> made(n);
    for (std::size_t i = 0; i < n; ++i)
        made[i] = static_cast<std::byte>((i * 31 + i / 16384 * 7 + i / 251) & 0xff);
    return made;
}

} // namespace cleat::tls
