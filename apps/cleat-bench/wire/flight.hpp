// flight: reads the bytes of a server's first flight, as far as they are not encrypted.

#pragma once

#include "wire/registry.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench::wire {

/// server_hello is a ServerHello or a HelloRetryRequest (RFC 8446, sections 4.1.3 and 4.1.4).
struct server_hello
{
    std::uint16_t version = 0; ///< Of supported_versions; otherwise the legacy one.
    std::string session_id;
    std::uint16_t suite = 0;
    unsigned compression = 0;
    bool retry = false;                 ///< It is a HelloRetryRequest.
    std::optional<std::uint16_t> group; ///< Of its key share.
    std::map<std::uint16_t, std::string> extensions;
};

/// key_exchange is a ServerKeyExchange up to its signature (RFC 5246, section 7.4.3; RFC 8422,
/// section 5.4).
struct key_exchange
{
    std::optional<std::uint16_t> group; ///< A named curve; unset: a finite field.
    std::string prime;                  ///< Of the finite field, without leading zeros.
    std::string public_key;
};

/// alert is one that the server sent (RFC 8446, section 6).
struct alert
{
    bool fatal = false;
    int description = -1;
};

/// flight collects a server's answer to a ClientHello. The bytes may come in any pieces.
class flight
{
public:
    /// add takes more bytes. Bytes after the flight's end are not looked at.
    void add(std::string_view bytes);

    /// done: no further bytes are looked at: the flight is complete, the rest of it is encrypted,
    /// it ended by a fatal alert, or the bytes are no TLS.
    [[nodiscard]] bool done() const noexcept { return done_; }
    [[nodiscard]] bool malformed() const noexcept { return malformed_; }
    [[nodiscard]] bool empty() const noexcept { return !any_; }

    [[nodiscard]] std::optional<server_hello> const& hello() const noexcept { return hello_; }
    /// certificates is the DER of each, the leaf first. TLS 1.3 encrypts them.
    [[nodiscard]] std::vector<std::string> const& certificates() const noexcept
    {
        return certificates_;
    }
    [[nodiscard]] std::optional<key_exchange> const& exchange() const noexcept { return exchange_; }
    [[nodiscard]] bool has_staple() const noexcept { return has_staple_; }
    [[nodiscard]] bool wants_certificate() const noexcept { return wants_certificate_; }
    /// complete: ServerHelloDone has come.
    [[nodiscard]] bool complete() const noexcept { return complete_; }
    /// alert is the first fatal one; otherwise the last warning.
    [[nodiscard]] std::optional<wire::alert> const& alert() const noexcept { return alert_; }

private:
    void read_records();
    void read_alert(std::string_view contents);
    void read_messages();
    void read_message(std::size_t type, std::string_view body);
    void read_hello(std::string_view body);
    void read_certificates(std::string_view body);
    void read_exchange(std::string_view body);
    void fail() noexcept;

    std::string records_;
    std::string messages_;
    std::optional<server_hello> hello_;
    std::vector<std::string> certificates_;
    std::optional<key_exchange> exchange_;
    std::optional<wire::alert> alert_;
    bool any_ = false;
    bool has_staple_ = false;
    bool wants_certificate_ = false;
    bool complete_ = false;
    bool done_ = false;
    bool malformed_ = false;
};

} // namespace cleat::bench::wire
