// failure_example: one connection that failed, for the status page.

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cleat::app {

/// short_text is a text of at most N bytes, which a longer one is cut to. It may have any bytes: a
/// client chooses the name that it asks for.
template <std::size_t N>
class short_text
{
    static_assert(N <= UINT8_MAX);

public:
    short_text() noexcept = default;
    template <std::convertible_to<std::string_view> Text>
    short_text(Text const& text) noexcept // NOLINT(google-explicit-constructor)
    {
        std::string_view const all{text};
        size_ = static_cast<std::uint8_t>(std::min(all.size(), N));
        all.copy(text_.data(), size_);
    }

    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::uint8_t size_ = 0;
    std::array<char, N> text_{};
};

/// failure_event is the log's event for a failure.
enum class failure_event : std::uint8_t
{
    handshake,    ///< handshake-failed
    proxy_header, ///< proxy-header-failed
    connect,      ///< connect-failed
    relay,        ///< connection-closed, with a reason that is_good does not count as good
};

/// name_of is the event's name in the log.
[[nodiscard]] constexpr std::string_view name_of(failure_event event) noexcept
{
    switch (event) {
    case failure_event::handshake:
        return "handshake-failed";
    case failure_event::proxy_header:
        return "proxy-header-failed";
    case failure_event::connect:
        return "connect-failed";
    case failure_event::relay:
        return "connection-closed";
    }
    return "unknown";
}

/// failure_example has what the log's line has. Each text may be empty.
struct failure_example
{
    failure_event event = failure_event::handshake;
    std::chrono::system_clock::time_point time{};
    short_text<71> client{};   ///< Its address and port; the one of a PROXY header, where there is.
    short_text<55> frontend{}; ///< The address that it came to.
    short_text<127> server_name{}; ///< The SNI that it sent.
    short_text<31> alert{};        ///< The name of the alert that it sent.
    short_text<127> detail{};      ///< The TLS library's reason, or the system's.
    short_text<127> subject{};     ///< Of a client certificate that was refused.
};

} // namespace cleat::app
