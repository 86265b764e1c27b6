// failure: why a server could not be probed.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cleat::bench {

/// probed_failure is how the first connection failed to a server that cannot be probed.
struct probed_failure
{
    bool connected = false;  ///< TCP.
    std::string kind;        ///< A name by kind_of: "refused", "timeout".
    int alert = -1;          ///< The server's alert (RFC 8446, section 6), or -1.
    std::string first_bytes; ///< The first bytes that it sent.
};

/// failure_sentence is what is wrong with a target, and the cure.
[[nodiscard]] std::string failure_sentence(
    std::string_view target, std::chrono::milliseconds timeout, probed_failure const& failure);

} // namespace cleat::bench
