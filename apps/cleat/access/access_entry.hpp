// access_entry: what the access log says of a connection that has ended.

#pragma once

#include "access/access_log.hpp"
#include "counts/close_reason.hpp"

#include <cleat/core/error.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// access_entry's empty texts and unset times are left out of the line.
struct access_entry
{
    using duration = std::chrono::steady_clock::duration;

    std::string_view frontend;
    std::string peer;
    std::string source;           ///< From a PROXY header.
    bool is_passthrough = false;  ///< TLS is the upstream's.
    std::string_view unique_id{}; ///< From its TLV.
    std::string proxy_tlvs{};     ///< The names of its TLVs.
    bool is_established = false;  ///< The handshake is done.
    tls::handshake_info agreed{}; ///< Where it is not, SNI, and perhaps version and cipher.
    std::string_view ja4{};
    std::string certificate;            ///< The file of the certificate that was shown.
    tls::certificate_identity client{}; ///< Also of one that was refused.
    std::string upstream;
    std::uint64_t up = 0;
    std::uint64_t down = 0;
    duration lasted{}; ///< From accept to the end.
    // The phases.
    std::optional<duration> handshake{};  ///< From accept to its end.
    std::optional<duration> connect{};    ///< From there until the upstream accepted.
    std::optional<duration> first_byte{}; ///< From there until its first byte came.
    close_reason reason = close_reason::done;
    error_code error{};
    std::string_view alert{}; ///< The name of the one that the client sent.
    std::string_view detail{};
};

/// write makes the entry's line on the stack, and hands it to the access log.
void write(access_stream const& out, std::size_t worker, access_entry const& entry) noexcept;

} // namespace cleat::app
