// Why a server cannot be probed, and the cure.

#include "probe/failure.hpp"

#include <cleat/tls/alert.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cleat::bench {
namespace {

// The protocol of a server without TLS, if its first bytes show it.
std::string_view plain_protocol(std::string_view bytes) noexcept
{
    using sign = std::pair<std::string_view, std::string_view>;
    constexpr std::array<sign, 8> signs{{
        {"HTTP/", "plain HTTP"},
        {"<!DOCTYPE", "plain HTTP"},
        {"<html", "plain HTTP"},
        {"SSH-", "SSH"},
        {"220", "plain SMTP or FTP"},
        {"* OK", "plain IMAP"},
        {"+OK", "plain POP3"},
        {"-ERR", "plain Redis or POP3"},
    }};
    for (auto const& [start, name] : signs)
        if (bytes.starts_with(start))
            return name;
    return {};
}

std::string tcp_failure_sentence(
    std::string_view target, std::chrono::milliseconds timeout, probed_failure const& failure)
{
    if (failure.kind == "refused")
        return fmt::format(
            "{} refuses the connection: nothing listens there; check the port, or start the server",
            target);
    if (failure.kind == "timeout")
        return fmt::format(
            "{} did not take the connection within {} ms: check the address, and whether a "
            "firewall is in the way",
            target, timeout.count());
    return fmt::format(
        "{} cannot be connected to ({}): check the address and the network", target, failure.kind);
}

std::string_view cure_for(int alert) noexcept
{
    constexpr int protocol_version = 70;
    constexpr int unrecognized_name = 112;
    switch (alert) {
    case protocol_version:
        return "it speaks neither TLS 1.2 nor TLS 1.3; turn them on";
    case unrecognized_name:
        return "it does not know the name; ask for one that it serves";
    default:
        return "the server's log says why";
    }
}

} // namespace

std::string failure_sentence(
    std::string_view target, std::chrono::milliseconds timeout, probed_failure const& failure)
{
    constexpr char alert_record = 21; // RFC 8446, section 5.1.
    constexpr char handshake_record = 22;
    if (!failure.connected)
        return tcp_failure_sentence(target, timeout, failure);
    std::string_view const bytes = failure.first_bytes;
    if (std::string_view const spoken = plain_protocol(bytes); !spoken.empty())
        return fmt::format(
            "{} speaks {}, not TLS: give the port that speaks TLS, for HTTPS usually 443", target,
            spoken);
    if (!bytes.empty() && bytes.front() != alert_record && bytes.front() != handshake_record)
        return fmt::format(
            "{} does not speak TLS: what it sends is no TLS record; check the port", target);
    if (failure.kind == "timeout")
        return fmt::format(
            "{} took the connection, and did not finish the handshake within {} ms: check that "
            "this port speaks TLS, and that the server is not busy",
            target, timeout.count());
    if (failure.alert >= 0)
        return fmt::format(
            "{} refuses the handshake with the alert {}: {}", target,
            tls::alert_name(failure.alert), cure_for(failure.alert));
    if (bytes.empty())
        return fmt::format(
            "{} ends the connection without an answer to the ClientHello: check that this port "
            "speaks TLS; the server's log may say why",
            target);
    return fmt::format(
        "{}: the handshake fails ({}): the server's log may say more", target, failure.kind);
}

} // namespace cleat::bench
