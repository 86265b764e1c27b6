// client_end: the client's side of a relay, which is TLS that ends here, or bytes as they are.

#pragma once

#include "relay/client_side.hpp"
#include "relay/plain_client.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/channel.hpp>
#include <cleat/net/socket.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::app {

/// client_end refers to one of the two, which outlives it. It is one word, because a connection's
/// coroutines keep several.
class client_end
{
public:
    client_end(client_side& tls) noexcept // NOLINT: it is the same side
        : side_{reinterpret_cast<std::uintptr_t>(&tls)}
    {
    }
    client_end(plain_client& plain) noexcept // NOLINT: as above
        : side_{reinterpret_cast<std::uintptr_t>(&plain) | plain_flag}
    {
    }

    /// is_plain: its bytes go on as they are.
    [[nodiscard]] bool is_plain() const noexcept { return (side_ & plain_flag) != 0; }

    [[nodiscard]] net::socket& socket() const noexcept
    {
        return is_plain() ? plain().socket : tls().socket;
    }

    /// has_more: bytes, or an end, for which no event comes.
    [[nodiscard]] bool has_more() const noexcept
    {
        return !is_plain() && (tls().channel.unread() || tls().early_end);
    }

    /// unsent: the socket was full; call flush when it is writable.
    [[nodiscard]] bool unsent() const noexcept
    {
        return is_plain() ? !plain().unsent.empty() : tls().channel.unsent();
    }

    /// write_max is how many bytes one write takes while nothing is unsent.
    [[nodiscard]] std::size_t write_max() const noexcept
    {
        return is_plain() ? limits::turn_max : tls().channel.write_max();
    }

    /// ends_with_fin: the end of the answer is a FIN, and not a close_notify.
    [[nodiscard]] bool ends_with_fin() const noexcept { return is_plain(); }

    /// splice is write for the bytes of a pipe, to a client that is_plain.
    [[nodiscard]] net::progress splice(scratch_pipe& pipe) const noexcept
    {
        return plain().splice(pipe);
    }

    /// stop_ticket: no session ticket in a packet of its own.
    void stop_ticket() const noexcept
    {
        if (!is_plain())
            tls().ticket.stop();
    }

    /// read, write, flush, close are those of net::channel. An end that came with the first bytes
    /// cannot be read a second time. A passthrough has no close_notify.
    [[nodiscard]] net::progress read(
        std::span<std::byte> block, std::size_t turn, bool ended) const noexcept
    {
        if (is_plain())
            return plain().read(block, turn, ended);
        if (tls().early_end)
            return {.error = tls().early_end};
        return tls().channel.read(tls().socket.entry(), block, turn, ended);
    }
    [[nodiscard]] net::progress write(
        std::span<std::byte const> bytes, net::channel::after_write addition) const noexcept
    {
        if (is_plain())
            return plain().write(bytes);
        net::channel::piece const pieces[] = {bytes};
        return tls().channel.write(tls().socket.native_handle(), pieces, addition);
    }
    [[nodiscard]] net::progress flush() const noexcept
    {
        return is_plain() ? plain().flush() : tls().channel.flush(tls().socket.native_handle());
    }
    [[nodiscard]] net::progress close() const noexcept
    {
        return is_plain() ? net::progress{} : tls().channel.close(tls().socket.native_handle());
    }

private:
    // The lowest bit of the address says which side it is.
    static constexpr std::uintptr_t plain_flag = 1;
    static_assert(alignof(client_side) > plain_flag && alignof(plain_client) > plain_flag);

    [[nodiscard]] client_side& tls() const noexcept
    {
        return *reinterpret_cast<client_side*>(side_);
    }
    [[nodiscard]] plain_client& plain() const noexcept
    {
        return *reinterpret_cast<plain_client*>(side_ & ~plain_flag);
    }

    std::uintptr_t side_;
};

} // namespace cleat::app
