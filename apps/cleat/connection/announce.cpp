#include "admission/admission.hpp"
#include "connection/announce.hpp"
#include "connection/client_address.hpp"
#include "limits/half_open.hpp"
#include "proxy/inbound_header.hpp"
#include "proxy/proxy_protocol.hpp"
#include "worker/worker_service.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace cleat::app {
namespace {

socket_address to_socket_address(net::address const& address) noexcept
{
    socket_address made;
    if (address.family() == AF_INET) {
        auto const& ip = reinterpret_cast<sockaddr_in const&>(address.storage);
        made.family = address_family::ipv4;
        std::memcpy(made.bytes.data(), &ip.sin_addr, sizeof ip.sin_addr);
    } else if (address.family() == AF_INET6) {
        auto const& ip = reinterpret_cast<sockaddr_in6 const&>(address.storage);
        made.family = address_family::ipv6;
        std::memcpy(made.bytes.data(), &ip.sin6_addr, sizeof ip.sin6_addr);
    }
    made.port = static_cast<std::uint16_t>(address.port());
    return made;
}

client_certificate when_certificate_was_shown(tls::handshake_info const& info) noexcept
{
    if (!info.peer_certificate)
        return client_certificate::none;
    return info.resumed ? client_certificate::in_the_session
                        : client_certificate::in_this_connection;
}

// The addresses of the header that came, or of the connection where it has none.
connection_facts endpoints_of(
    net::socket const& client, net::address const& peer, inbound_header const* received)
{
    connection_facts facts;
    if (received != nullptr && received->has_addresses()) {
        facts.source = received->source;
        facts.destination = received->destination;
        return facts;
    }
    facts.source = to_socket_address(peer);
    if (result<net::address> const local = net::local_address(client.native_handle()))
        facts.destination = to_socket_address(*local);
    return facts;
}

// The announcement with these facts. Those of TLS are for PROXY v2 only.
std::string write_header(
    announcement_rule const& rule, connection_facts& facts, net::address const& peer,
    inbound_header const* received)
{
    header_checksum const checksum{rule.has_checksum};
    std::string out;
    switch (rule.way) {
    case announcement::nothing:
    case announcement::proxy_proxy:
        break;
    case announcement::write_ip:
        // A header may name a client at a UNIX socket. The peer comes by IPv4 or IPv6.
        if (append_write_ip(out, facts.source))
            static_cast<void>(append_write_ip(out, to_socket_address(peer)));
        break;
    case announcement::write_proxy_v1:
        append_proxy_v1(out, facts);
        break;
    case announcement::write_proxy_v2:
        if (received != nullptr && rule.received == inbound_tlvs::keep)
            facts.inbound_tlvs = received->tlvs();
        // Only a very long common name or certificate makes the header too long.
        if (append_proxy_v2(out, facts, checksum)) {
            facts.client_certificate = {};
            if (facts.tls)
                facts.tls->client_common_name = {};
            static_cast<void>(append_proxy_v2(out, facts, checksum));
        }
        break;
    }
    return out;
}

std::string make_header(
    announcement_rule const& rule, client_side const& client, net::address const& peer,
    inbound_header const* received)
{
    connection_facts facts = endpoints_of(client.socket, peer, received);
    if (rule.way != announcement::write_proxy_v2)
        return write_header(rule, facts, peer, received);
    tls::engine const& engine = client.channel.engine();
    tls::handshake_info const info = engine.info();
    std::string const common_name = engine.peer_common_name();
    std::string certificate;
    tls::certificate_facts const own = engine.own_certificate();
    if (rule.has_server_name)
        facts.authority = info.server_name;
    facts.alpn = info.alpn;
    if (rule.has_tls_facts) {
        facts.tls = tls_facts{
            .version = info.version,
            .cipher = info.cipher,
            .group = info.group,
            .signature_scheme = info.signature_scheme,
            .certificate_signature = own.signature,
            .certificate_key = own.key,
            .client_common_name = common_name,
            .client = when_certificate_was_shown(info),
            .is_client_verified = info.peer_certificate};
    }
    if (rule.has_client_certificate)
        certificate = engine.peer_trusted_pem();
    facts.client_certificate = certificate;
    return write_header(rule, facts, peer, received);
}

} // namespace

net::task<error_code> receive_proxy_header(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& socket,
    net::address const& peer, std::unique_ptr<inbound_header>& header)
{
    if (error_code const ec = check_peer(frontend.plan.admission.get(), peer))
        co_return ec;
    half_open unfinished{frontend.service.connections().half_open(), interrupt};
    // Peeked at, then taken: the bytes after the header stay in the socket.
    std::array<std::uint8_t, limits::proxy_header_max> block; // NOLINT: filled by recv
    for (;;) {
        net::readiness::entry& entry = socket.entry();
        entry.use_up_read();
        ssize_t const n =
            ::recv(socket.native_handle(), block.data(), block.size(), MSG_PEEK | MSG_DONTWAIT);
        if (n == 0)
            co_return error_code{error::closed};
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            co_return last_system_error();
        if (n > 0) {
            unfinished.on_input();
            std::span<std::uint8_t const> const bytes =
                std::span{block}.first(static_cast<std::size_t>(n));
            proxy_reading const read = read_proxy_header(bytes);
            if (read.verdict != proxy_verdict::need_more)
                header = std::make_unique<inbound_header>(keep(bytes, read));
            if (read.verdict == proxy_verdict::malformed)
                co_return error_code{
                    read.fault == proxy_fault::wrong_checksum ? error::proxy_checksum
                                                              : error::bad_proxy_header};
            if (read.verdict == proxy_verdict::complete) {
                // All of these bytes have been peeked at, so all are received.
                static_cast<void>(
                    !::recv(socket.native_handle(), block.data(), read.header.size, MSG_DONTWAIT));
                entry.more_to_read(); // No event comes for bytes that came with the header.
                co_return error_code{};
            }
            if (entry.ended() || entry.broken()) // No more bytes will come.
                co_return error_code{error::bad_proxy_header};
        }
        net::interest const readable{&entry, true, false};
        error_code const interrupted = co_await net::ready{interrupt, readable};
        if (interrupted)
            co_return interrupted;
    }
}

std::span<std::byte const> first_bytes(
    announcement_rule const& rule, client_side& client, net::address const& peer,
    inbound_header const* received, byte_counts& traffic)
{
    if (rule.way == announcement::nothing)
        return first_plaintext(client, {}, traffic);
    return first_plaintext(client, make_announcement(rule, client, peer, received), traffic);
}

std::string make_announcement(
    announcement_rule const& rule, client_side const& client, net::address const& peer,
    inbound_header const* received)
{
    if (rule.way == announcement::nothing)
        return {};
    bool const passes_on = rule.way == announcement::proxy_proxy;
    return passes_on ? received->bytes : make_header(rule, client, peer, received);
}

std::span<std::byte const> first_plaintext(
    client_side& client, std::string_view before, byte_counts& traffic)
{
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    std::size_t used = before.size();
    if (used != 0)
        std::memcpy(block.data(), before.data(), used);
    if (client.channel.unread()) {
        net::progress const p = client.channel.read(
            client.socket.entry(), block.subspan(used), limits::turn_min,
            client.socket.entry().ended());
        used += p.bytes;
        traffic.add_up(p.bytes);
        client.early_end = p.error;
    }
    return block.first(used);
}

std::string make_plain_announcement(
    announcement_rule const& rule, net::socket const& client, net::address const& peer,
    inbound_header const* received, std::string_view server_name)
{
    if (rule.way == announcement::nothing)
        return {};
    if (rule.way == announcement::proxy_proxy)
        return received->bytes;
    connection_facts facts = endpoints_of(client, peer, received);
    if (rule.has_server_name)
        facts.authority = server_name;
    return write_header(rule, facts, peer, received);
}

std::span<std::byte const> first_bytes_of_passthrough(
    announcement_rule const& rule, net::socket const& client, net::address const& peer,
    inbound_header const* received, std::string_view server_name, std::span<std::byte const> hello)
{
    std::string const header = make_plain_announcement(rule, client, peer, received, server_name);
    if (header.empty())
        return hello;
    std::span<std::byte> const block = net::scratch::of_this_thread().plaintext();
    std::memcpy(block.data(), header.data(), header.size());
    std::memcpy(block.data() + header.size(), hello.data(), hello.size());
    return block.first(header.size() + hello.size());
}

} // namespace cleat::app
