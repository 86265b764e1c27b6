// split_wire: two TLS engines joined in memory by a wire that delivers its bytes as a test wants
// them.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/engine.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace cleat::tls {

inline constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

/// delivery is how bytes come to a side, and how much room each of its calls has for what it says.
struct delivery
{
    std::size_t chunk = whole;    ///< The most that one call is shown.
    std::size_t split_at = whole; ///< No call is shown bytes on both sides of this offset.
    std::size_t cut_at = whole;   ///< FIN comes in place of the byte at this offset.
    std::size_t room = 256 * 1024;
};

/// side is one engine and everything that was ever sent to it.
struct side
{
    side(context const& use, delivery d) : engine{use}, how{d} {}

    /// arrived is what the next call is shown.
    [[nodiscard]] std::span<std::byte const> arrived() const
    {
        std::size_t const until = std::min({come.size(), how.cut_at});
        std::size_t end = taken + std::min(how.chunk, until - taken);
        if (taken < how.split_at && how.split_at < end)
            end = how.split_at;
        return std::span{come}.subspan(taken, end - taken);
    }

    [[nodiscard]] bool ended() const { return fin || come.size() >= how.cut_at; }

    /// exhausted: everything that has come was read.
    [[nodiscard]] bool exhausted() const { return taken >= std::min(come.size(), how.cut_at); }

    /// arrive puts bytes on their way to this side.
    void arrive(std::span<std::byte const> bytes)
    {
        come.insert(come.end(), bytes.begin(), bytes.end());
    }

    tls::engine engine;
    delivery how;
    std::vector<std::byte> come; ///< All that was sent to this side.
    std::size_t taken = 0;
    bool fin = false;             ///< The other side has closed its half.
    std::size_t wants_output = 0; ///< How often a call asked for more room.
};

/// drive calls op(engine, wire) until it is done, or has failed, or wants bytes that have not come.
/// What it writes arrives at `other`. A machine that asks for nothing that helps it fails the test.
template <class Op>
step drive(side& me, side& other, Op op)
{
    std::vector<std::byte> room(me.how.room);
    std::size_t bytes = 0;
    for (;;) {
        std::span<std::byte const> const in = me.arrived();
        // FIN is behind the last byte, so only who is shown the last byte can be shown FIN.
        bool const last =
            me.ended() && me.taken + in.size() >= std::min(me.come.size(), me.how.cut_at);
        wire w{in, room, last};
        step s = op(me.engine, w);
        me.taken += in.size() - w.in.size();
        std::size_t const out = room.size() - w.out.size();
        other.arrive(std::span{room}.first(out));
        bytes += s.bytes;
        s.bytes = bytes;
        if (s.error || s.next == want::nothing)
            return s;
        if (s.next == want::output) {
            ++me.wants_output;
            if (out == 0)
                return s; // Not even the room of a whole call is enough.
            continue;
        }
        REQUIRE(w.in.empty()); // "Everything in wire::in was read."
        if (me.exhausted() && (!me.ended() || last))
            return s;
    }
}

/// duet is a client and a server with a wire between them.
struct duet
{
    duet(
        context const& of_server, context const& of_client, delivery to_server = {},
        delivery to_client = {})
        : server{of_server, to_server}, client{of_client, to_client}
    {
    }

    /// shake runs the handshake to where neither side can go on. Both steps tell how.
    std::pair<step, step> shake()
    {
        auto const op = [](engine& e, wire& w) { return e.handshake(w); };
        step of_client{want::input};
        step of_server{want::input};
        for (int turns = 0; turns < 16; ++turns) {
            std::size_t const before = server.come.size() + client.come.size();
            if (of_client.next != want::nothing)
                of_client = drive(client, server, op);
            if (of_server.next != want::nothing)
                of_server = drive(server, client, op);
            if (server.come.size() + client.come.size() == before)
                break;
        }
        return {of_server, of_client};
    }

    [[nodiscard]] bool established()
    {
        auto const [of_server, of_client] = shake();
        return of_server.next == want::nothing && !of_server.error &&
               of_client.next == want::nothing && !of_client.error;
    }

    side server;
    side client;
};

/// read_all reads until nothing more has come, or an end; it appends to `into`.
inline step read_all(
    side& me, side& other, std::vector<std::byte>& into, std::size_t buffer = 65536)
{
    std::vector<std::byte> plaintext(buffer);
    for (;;) {
        step const s = drive(me, other, [&](engine& e, wire& w) {
            step const one = e.read(w, plaintext);
            into.insert(
                into.end(), plaintext.begin(),
                plaintext.begin() + static_cast<std::ptrdiff_t>(one.bytes));
            return one;
        });
        if (s.error || s.next != want::nothing)
            return s;
    }
}

/// write_all writes the pieces, however little room there is.
inline step write_all(side& me, side& other, std::span<std::byte const> bytes)
{
    return drive(me, other, [&](engine& e, wire& w) {
        std::span<std::byte const> const pieces[] = {bytes};
        step const s = e.write(w, pieces);
        bytes = bytes.subspan(s.bytes);
        return s;
    });
}

/// close sends close_notify.
inline step close(side& me, side& other)
{
    return drive(me, other, [](engine& e, wire& w) { return e.close(w); });
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
