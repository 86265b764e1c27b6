// outcome: how each transaction ended. Every attempt has exactly one outcome, and the sum is
// checked.

#pragma once

#include <cleat/core/error.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cleat::tls {
class engine;
}

namespace cleat::bench {

/// stage is the part of a transaction in which it failed.
enum class stage : std::uint8_t
{
    start,     ///< Before the first packet: this machine had no port, file or memory for it.
    connect,   ///< TCP.
    handshake, ///< TLS.
    upgrade,   ///< The opening of a WebSocket.
    request,   ///< Sending.
    answer,    ///< Up to the answer's last byte, and whether it was the right one.
    open,      ///< A WebSocket that is held, or waits for its next message.
};
inline constexpr std::size_t stages = 7;

/// name_of is the stage's name in reports: "handshake".
[[nodiscard]] std::string_view name_of(stage s) noexcept;
[[nodiscard]] bool parse(std::string_view name, stage& parsed) noexcept;

/// unfinished is the kind of a transaction that was under way, or due, when a run was cut off.
inline constexpr std::string_view unfinished = "unfinished";
/// connection_busy is the kind of a request that was not sent in the time of the load, since its
/// kept connection still waited for an answer.
inline constexpr std::string_view connection_busy = "connection busy";

/// failure is one way to fail. Kinds are words of the field: "refused", "timeout", "reset",
/// "alert handshake_failure", "certificate expired", "short answer", "wrong body", "wrong status
/// 503", "no ports"; of a WebSocket "refused with status 403", "wrong echo", "closed with code
/// 1001, going away".
struct failure
{
    bench::stage stage = bench::stage::start;
    std::string kind;

    auto operator<=>(failure const&) const = default;
};

/// failures counts each way to fail.
using failures = std::map<failure, std::uint64_t>;

/// kind_of names what an error means in a stage. `engine` is the connection's, for the alert and
/// the library's message; null where there is none yet.
[[nodiscard]] std::string kind_of(stage failed, error_code ec, tls::engine const* engine);

/// client_limit: failures of this kind say more about the generator's machine than about the
/// server.
[[nodiscard]] bool client_limit(failure const& f) noexcept;

} // namespace cleat::bench
