// Why a server cannot be probed, and what to do about it.

#include "probe/probe.hpp"

#include <cleat/tls/alert.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cleat::bench {
namespace {

// What a server says that does not speak TLS, where it can be told from its first bytes.
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

std::string sentence_on_tcp(
    std::string_view at, std::chrono::milliseconds timeout, probed_failure const& failed)
{
    if (failed.kind == "refused")
        return fmt::format(
            "{} refuses the connection: nothing listens there; check the port, or start the server",
            at);
    if (failed.kind == "timeout")
        return fmt::format(
            "{} did not take the connection within {} ms: check the address, and whether a "
            "firewall is in the way",
            at, timeout.count());
    return fmt::format(
        "{} cannot be connected to ({}): check the address and the network", at, failed.kind);
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

std::string sentence_on(
    std::string_view at, std::chrono::milliseconds timeout, probed_failure const& failed)
{
    constexpr char alert_record = 21; // RFC 8446, section 5.1.
    constexpr char handshake_record = 22;
    if (!failed.connected)
        return sentence_on_tcp(at, timeout, failed);
    std::string_view const bytes = failed.first_bytes;
    if (std::string_view const spoken = plain_protocol(bytes); !spoken.empty())
        return fmt::format(
            "{} speaks {}, not TLS: give the port that speaks TLS, for HTTPS usually 443", at,
            spoken);
    if (!bytes.empty() && bytes.front() != alert_record && bytes.front() != handshake_record)
        return fmt::format(
            "{} does not speak TLS: what it sends is no TLS record; check the port", at);
    if (failed.kind == "timeout")
        return fmt::format(
            "{} took the connection, and did not finish the handshake within {} ms: check that "
            "this port speaks TLS, and that the server is not busy",
            at, timeout.count());
    if (failed.alert >= 0)
        return fmt::format(
            "{} refuses the handshake with the alert {}: {}", at, tls::alert_name(failed.alert),
            cure_for(failed.alert));
    if (bytes.empty())
        return fmt::format(
            "{} ends the connection without an answer to the ClientHello: check that this port "
            "speaks TLS; the server's log may say why",
            at);
    return fmt::format(
        "{}: the handshake fails ({}): the server's log may say more", at, failed.kind);
}

} // namespace cleat::bench
