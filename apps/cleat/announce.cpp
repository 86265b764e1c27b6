#include "announce.hpp"
#include "proxy_protocol.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <array>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace cleat::app {
namespace {

socket_address socket_address_of(net::address const& a) noexcept
{
    socket_address made;
    if (a.family() == AF_INET) {
        auto const& ip = reinterpret_cast<sockaddr_in const&>(a.storage);
        made.family = address_family::ipv4;
        std::memcpy(made.bytes.data(), &ip.sin_addr, sizeof ip.sin_addr);
    } else if (a.family() == AF_INET6) {
        auto const& ip = reinterpret_cast<sockaddr_in6 const&>(a.storage);
        made.family = address_family::ipv6;
        std::memcpy(made.bytes.data(), &ip.sin6_addr, sizeof ip.sin6_addr);
    }
    made.port = static_cast<std::uint16_t>(a.port());
    return made;
}

client_certificate certificate_of(tls::handshake_info const& info) noexcept
{
    if (!info.peer_certificate)
        return client_certificate::none;
    return info.resumed ? client_certificate::in_the_session
                        : client_certificate::in_this_connection;
}

std::string header_for(config const& use, client_side const& from, net::address const& peer)
{
    tls::engine const& engine = from.channel.engine();
    tls::handshake_info const info = engine.info();
    std::string const common_name = engine.peer_common_name();
    tls::certificate_facts const shown = engine.own_certificate();
    connection_facts facts;
    facts.source = socket_address_of(peer);
    if (result<net::address> const local = net::local_address(from.socket.native_handle()))
        facts.destination = socket_address_of(*local);
    std::string out;
    switch (*use.announce) {
    case announcement::nothing:
    case announcement::proxy_proxy:
        break;
    case announcement::write_ip:
        // Cannot fail: a client comes by IPv4 or IPv6.
        static_cast<void>(append_write_ip(out, facts.source));
        break;
    case announcement::write_proxy_v1:
        append_proxy_v1(out, facts);
        break;
    case announcement::write_proxy_v2:
        if (*use.proxy_authority)
            facts.authority = info.server_name;
        facts.alpn = info.alpn;
        if (*use.proxy_tlv) {
            facts.tls = tls_facts{
                .version = info.version,
                .cipher = info.cipher,
                .group = info.group,
                .signature_scheme = info.signature_scheme,
                .certificate_signature = shown.signature,
                .certificate_key = shown.key,
                .client_common_name = common_name,
                .client = certificate_of(info),
                .is_client_verified = info.peer_certificate};
        }
        if (append_proxy_v2(out, facts)) { // Too long only by a common name without measure.
            facts.tls->client_common_name = {};
            static_cast<void>(append_proxy_v2(out, facts));
        }
        break;
    }
    return out;
}

} // namespace

net::task<error_code> receive_proxy_header(
    net::interrupt& by, net::socket& from, std::string& header)
{
    // Looked at first and taken then, so that TLS finds its bytes where they are.
    std::array<std::uint8_t, limits::proxy_header_max> block; // NOLINT: filled by recv
    for (;;) {
        net::readiness::entry& entry = from.entry();
        entry.use_up_read();
        ssize_t const n =
            ::recv(from.native_handle(), block.data(), block.size(), MSG_PEEK | MSG_DONTWAIT);
        if (n == 0)
            co_return error_code{error::closed};
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            co_return last_system_error();
        if (n > 0) {
            proxy_reading const read =
                read_proxy_header(std::span{block}.first(static_cast<std::size_t>(n)));
            if (read.verdict == proxy_verdict::malformed)
                co_return error_code{error::bad_proxy_header};
            if (read.verdict == proxy_verdict::complete) {
                header.assign(reinterpret_cast<char const*>(block.data()), read.header.size);
                // They are there: it cannot come short.
                static_cast<void>(
                    !::recv(from.native_handle(), block.data(), read.header.size, MSG_DONTWAIT));
                co_return error_code{};
            }
            if (entry.ended() || entry.broken()) // What a reset left can be read for ever.
                co_return error_code{error::bad_proxy_header};
        }
        net::interest const readable{&entry, true, false};
        error_code const interrupted = co_await net::ready{by, readable};
        if (interrupted)
            co_return interrupted;
    }
}

std::span<std::byte const> first_bytes(
    config const& use, client_side& from, net::address const& peer, std::string const& received,
    byte_counts& moved)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    std::size_t used = 0;
    if (*use.announce != announcement::nothing) {
        std::string const made =
            *use.announce == announcement::proxy_proxy ? received : header_for(use, from, peer);
        used = made.size();
        std::memcpy(block.data(), made.data(), used);
    }
    if (from.channel.unread()) {
        net::progress const p = from.channel.read(
            from.socket.entry(), block.subspan(used), limits::turn_min,
            from.socket.entry().ended());
        used += p.bytes;
        moved.up += p.bytes;
        from.early_end = p.error;
    }
    return block.first(used);
}

} // namespace cleat::app
