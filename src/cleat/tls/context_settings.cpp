#include <cleat/core/limits.hpp>
#include <cleat/tls/alpn.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/client_schemes.hpp>
#include <cleat/tls/certificates/crl.hpp>
#include <cleat/tls/certificates/verify_hook.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/name_lists.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/own_alert.hpp>
#include <cleat/tls/session_keeper.hpp>
#include <cleat/tls/ticket_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <arpa/inet.h>

namespace cleat::tls {
namespace {

void require(bool done, std::string_view setting)
{
    if (!done)
        throw spec_error{fmt::format(
            "{}: {} refuses it: {}", setting, library_version(), drain_errors().reason)};
}

void check_versions(context_spec const& spec)
{
    for (protocol_version const each : {spec.version_min, spec.version_max})
        if (each != protocol_version::tls_1_2 && each != protocol_version::tls_1_3)
            throw spec_error{fmt::format(
                "protocol version 0x{:04x} is not supported: give TLSv1.2 or TLSv1.3 (RFC 8996 "
                "ended the "
                "older ones)",
                static_cast<unsigned>(each))};
    if (spec.version_min > spec.version_max)
        throw spec_error{"the lowest TLS version is above the highest: no client could connect"};
}

void check_compressor(std::uint16_t algorithm)
{
    if (backend::can_compress(algorithm))
        return;
    constexpr std::array<std::string_view, 4> names{"0", "zlib", "brotli", "zstd"}; // RFC 8879.
    std::string const name = algorithm < names.size() ? std::string{names.at(algorithm)}
                                                      : fmt::format("algorithm {}", algorithm);
    throw spec_error{fmt::format(
        "certificate compression: {0} sends no certificate that is compressed with {1}: leave {1} "
        "out, or use AWS-LC, BoringSSL, or OpenSSL 3.2 or later that was built with {1}",
        library_version(), name)};
}

void check_tickets(context_spec const& spec)
{
    if (!has_tickets(spec))
        return;
    if (spec.tickets != nullptr && !spec.ticket_ratchets.empty())
        throw spec_error{"session tickets have secrets or ratchets, not both"};
    if (spec.ticket_rotation < std::chrono::seconds{1})
        throw spec_error{"ticket keys cannot rotate more often than once in a second"};
    ticket_times const times = ticket_times_of(spec);
    if (times.lifetime < times.rotation) // See ticket_keys.
        throw spec_error{fmt::format(
            "a session ticket lives {} seconds, which is less than an epoch of {}",
            times.lifetime.count(), times.rotation.count())};
    if (times.lifetime > limits::ticket_epochs_max * times.rotation)
        throw spec_error{fmt::format(
            "a session ticket lives {} seconds, which is more than {} epochs of {}",
            times.lifetime.count(), limits::ticket_epochs_max, times.rotation.count())};
    if (std::max(1 + spec.accepted_tickets.size(), spec.ticket_ratchets.size()) >
        limits::ticket_secrets_max)
        throw spec_error{
            fmt::format("there are more than {} ticket secrets", limits::ticket_secrets_max)};
    auto const [full, resumed] = spec.ticket_counts;
    if (full == 0 || std::max(full, resumed) > limits::tickets_max)
        throw spec_error{fmt::format(
            "tickets: a handshake can give from 1 to {}, or a resumed one 0", limits::tickets_max)};
    if (resumed > backend::resumed_tickets_max())
        throw spec_error{fmt::format(
            "tickets-resumed: {} sends {} at most with a resumed handshake: give that, or use "
            "AWS-LC or BoringSSL",
            library_version(), backend::resumed_tickets_max())};
}

// Settings that the other role has.
void check_other_role(context_spec const& spec)
{
    bool const has_tickets = spec.tickets != nullptr || !spec.accepted_tickets.empty() ||
                             !spec.ticket_ratchets.empty() || spec.session_ids;
    if (spec.role == role::client && has_tickets)
        throw spec_error{
            "a client issues no session tickets and no session IDs (tickets, session_ids): to "
            "resume it has a session_cache (sessions). A server has role::server and a "
            "certificate"};
    if (spec.role == role::client && spec.refuse_unknown_names)
        throw spec_error{
            "a client is asked for no name (refuse_unknown_names): leave that to the server"};
    if (spec.role == role::server && spec.sessions != nullptr)
        throw spec_error{
            "a server has no session_cache: its clients keep their sessions (see tickets)"};
    if (spec.role == role::server && spec.keep_sessions)
        throw spec_error{
            "a server is given no sessions to keep (keep_sessions): its clients keep them (see "
            "tickets)"};
    if (spec.role == role::server && !spec.server_name.empty())
        throw spec_error{
            "a server sends and verifies no server_name: its names are those of its certificates"};
}

void check_roles(context_spec const& spec)
{
    bool const server = spec.role == role::server;
    check_other_role(spec);
    if (!server && spec.verify == peer_verification::optional)
        throw spec_error{"a client either verifies its server or does not: give required or none"};
    if (server && spec.verify != peer_verification::none && spec.verify_authorities.empty() &&
        spec.verify_origin.empty() && !spec.verify_system_authorities)
        throw spec_error{
            "client certificates are to be verified, but there are no authorities to verify "
            "them by: name a file with the authorities' certificates (client-verify-ca)"};
    if (!server && !spec.verify_schemes.empty())
        throw spec_error{
            "a client sends no CertificateRequest: give its signature algorithms instead of client "
            "signature schemes"};
    if (spec.verify_depth && *spec.verify_depth < 0)
        throw spec_error{"the depth of a peer's chain cannot be negative: 0 is no intermediate"};
    check_tickets(spec);
    for (certificate_compressor const& each : spec.certificate_compressors)
        check_compressor(each.algorithm);
}

// The session ID context. A resumed handshake has no certificates, so a session that was made under
// other rules of verification must not resume under these.
std::array<std::byte, 32> hash_of_rules(
    backend::library_state const& library, context_spec const& spec)
{
    std::string text = fmt::format(
        "{}:{}\nverify {}\n", spec.session_scope.size(), spec.session_scope,
        static_cast<unsigned>(spec.verify));
    if (spec.verify_system_authorities)
        text += "system\n";
    if (spec.verify_depth)
        text += fmt::format("depth {}\n", *spec.verify_depth);
    if (spec.verify_function)
        text += "function\n"; // Functions have no identity: session_scope must distinguish them.
    for (crl_source const& each : spec.verify_crls)
        text += fmt::format("crl {}:{}\n", each.text.size(), each.text);
    if (spec.accept_stale_crls)
        text += "stale crls\n";
    text += spec.verify_authorities;
    std::array<std::byte, 32> hash{};
    require(
        library.derive(
            std::as_bytes(std::span{text}), std::as_bytes(std::span{"cleat session scope 1"}),
            hash),
        "session scope");
    return hash;
}

int choose_alpn(
    SSL*, unsigned char const** chosen, unsigned char* chosen_size, unsigned char const* offered,
    unsigned offered_size, void* argument) noexcept
{
    std::vector<unsigned char> const& supported =
        *static_cast<std::vector<unsigned char> const*>(argument);
    std::optional<std::string_view> const found =
        choose_protocol(supported, {offered, offered_size});
    if (!found)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = reinterpret_cast<unsigned char const*>(found->data());
    *chosen_size = static_cast<unsigned char>(found->size());
    return SSL_TLSEXT_ERR_OK;
}

} // namespace

bool is_ip_address(std::string const& text) noexcept
{
    in6_addr address{};
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

context_spec spec_with(context_spec const& spec, client_rule const& rule)
{
    context_spec made = spec;
    made.certificates.clear();
    made.verify = rule.verify;
    made.verify_authorities = rule.authorities;
    made.verify_origin = rule.origin;
    return made;
}

context_settings::context_settings(
    backend::library_state const& library, context_spec const& spec,
    std::vector<std::string>& warnings)
    : alpn_{alpn_on_wire(spec.alpn)}, verify_function_{spec.verify_function}
{
    check_versions(spec);
    check_roles(spec);
    ssl_ctx_ptr const scratch = library.new_ctx(spec.role == role::server);
    require(scratch != nullptr, "TLS");
    groups_ = usable_groups(scratch.get(), spec.groups);
    if (spec.version_min == protocol_version::tls_1_2)
        check_ciphers(scratch.get(), spec.ciphers, warnings);
    if (spec.version_max == protocol_version::tls_1_3)
        check_ciphersuites(scratch.get(), spec.ciphersuites);
    session_id_context_ = hash_of_rules(library, spec);

    // Also where `verify` is none: a connection may change that (set_verification). An origin
    // without text is a file without a certificate, and read_authorities throws for it.
    bool const may_verify =
        spec.verify != peer_verification::none || !spec.verify_authorities.empty();
    bool const is_listed = !spec.verify_schemes.empty() || spec.signature_algorithms.empty();
    if (may_verify)
        crls_ = read_crls(spec.verify_crls, warnings);
    if (spec.role == role::server && may_verify && is_listed)
        schemes_ = client_schemes(scratch.get(), spec);
    bool const named = spec.verify != peer_verification::none && !spec.verify_origin.empty();
    if (spec.verify_authorities.empty() && !named)
        return;
    authorities_ = read_authorities(library, spec.verify_authorities, spec.verify_origin);
    store_.reset(X509_STORE_new());
    require(store_ != nullptr, "authorities");
    for (x509_ptr const& each : authorities_)
        require(X509_STORE_add_cert(store_.get(), each.get()) == 1, "authorities");
    add_crls(store_.get());
}

ssl_ctx_ptr context_settings::new_ctx(
    backend::library_state const& library, context_spec const& spec, ticket_keys* tickets) const
{
    ssl_ctx_ptr ctx = library.new_ctx(spec.role == role::server);
    require(ctx != nullptr, "TLS");
    backend::set_modes(ctx.get());
    require(
        SSL_CTX_set_min_proto_version(ctx.get(), static_cast<std::uint16_t>(spec.version_min)) ==
                1 &&
            SSL_CTX_set_max_proto_version(
                ctx.get(), static_cast<std::uint16_t>(spec.version_max)) == 1,
        "protocol versions");
    apply_suites(ctx.get(), spec);
    apply_tickets(ctx.get(), spec, tickets);
    apply_verification(ctx.get(), spec);
    apply_alpn(ctx.get(), spec);
    watch_alerts(ctx.get());
    return ctx;
}

std::array<std::uint8_t, 32> context_settings::session_scope(std::vector<std::string> names) const
{
    std::ranges::sort(names);
    std::string text = rules();
    for (std::string const& each : names)
        text += each + "\n";
    std::array<std::uint8_t, 32> scope{};
    backend::sha256({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()}, scope);
    return scope;
}

void context_settings::apply_suites(SSL_CTX* ctx, context_spec const& spec) const
{
    if (spec.version_min == protocol_version::tls_1_2)
        require(SSL_CTX_set_cipher_list(ctx, spec.ciphers.c_str()) == 1, "ciphers");
    if (!spec.ciphersuites.empty() && spec.version_max == protocol_version::tls_1_3)
        require(backend::set_ciphersuites(ctx, spec.ciphersuites), "ciphersuites");
    require(backend::set_groups(ctx, groups_), "groups");
    if (!spec.signature_algorithms.empty() &&
        SSL_CTX_set1_sigalgs_list(ctx, spec.signature_algorithms.c_str()) != 1)
        throw spec_error{fmt::format(
            "signature algorithms: {} does not take \"{}\" ({}): write names such as "
            "ECDSA+SHA256:RSA-PSS+SHA256, with colons",
            library_version(), spec.signature_algorithms, drain_errors().reason)};
    if (spec.prefer_server_ciphers)
        SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    else
        SSL_CTX_clear_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    clear_errors(); // Errors for names that check_ciphers has warned of.
}

void context_settings::apply_tickets(
    SSL_CTX* ctx, context_spec const& spec, ticket_keys* tickets) const
{
    // The library's own cache would be state that workers share. See keep_by_id.
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    require(
        SSL_CTX_set_session_id_context(
            ctx, reinterpret_cast<unsigned char const*>(session_id_context_.data()),
            static_cast<unsigned>(session_id_context_.size())) == 1,
        "session scope");
    if (spec.role == role::client) {
        if (spec.keep_sessions || spec.sessions != nullptr)
            keep_sessions(ctx);
        if (!spec.want_tickets)
            SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
        return;
    }
    if (tickets == nullptr) {
        require(SSL_CTX_set_num_tickets(ctx, 0) == 1, "tickets");
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    } else {
        backend::on_ticket_key(ctx, tickets);
    }
    if (tickets != nullptr || spec.session_ids)
        backend::set_ticket_lifetime(ctx, ticket_times_of(spec).lifetime);
}

void context_settings::apply_verification(SSL_CTX* ctx, context_spec const& spec) const
{
    int mode = SSL_VERIFY_NONE;
    if (spec.verify != peer_verification::none)
        mode = SSL_VERIFY_PEER;
    if (spec.verify == peer_verification::required)
        mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    // OpenSSL calls it for a client that verifies nothing, too.
    auto* const noting = mode == SSL_VERIFY_NONE ? nullptr : cleat_note_refused;
    auto* const otherwise = spec.accept_stale_crls ? cleat_accept_stale_crl : noting;
    SSL_CTX_set_verify(ctx, mode, verify_function_ ? cleat_verify_hook : otherwise);
    if (verify_function_)
        require(attach_verify_function(ctx, &verify_function_), "the verify function");
    if (spec.verify_depth)
        SSL_CTX_set_verify_depth(ctx, *spec.verify_depth);
    apply_authorities(ctx, spec);
    if (spec.role == role::server) {
        // Clients choose their certificate by these names (RFC 8446, section 4.2.4).
        for (x509_ptr const& each : authorities_)
            require(SSL_CTX_add_client_CA(ctx, each.get()) == 1, "authorities");
        apply_schemes(ctx);
        return;
    }
    X509_VERIFY_PARAM* const rules = SSL_CTX_get0_param(ctx);
    std::string const& name = spec.server_name;
    if (is_ip_address(name))
        require(X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1, "the server's address");
    else if (!name.empty())
        require(
            X509_VERIFY_PARAM_set1_host(rules, name.c_str(), name.size()) == 1,
            "the server's name");
}

void context_settings::add_crls(X509_STORE* store) const
{
    if (crls_.empty())
        return;
    for (x509_crl_ptr const& each : crls_)
        require(X509_STORE_add_crl(store, each.get()) == 1, "CRLs");
    require(
        X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) == 1,
        "CRLs");
}

void context_settings::apply_schemes(SSL_CTX* ctx) const
{
    if (schemes_.tls_1_2.empty() && schemes_.tls_1_3.empty())
        return;
    require(backend::ask_for_schemes(ctx, &schemes_), "client signature schemes");
}

void context_settings::apply_authorities(SSL_CTX* ctx, context_spec const& spec) const
{
    bool const needs_some = spec.verify != peer_verification::none && store_ == nullptr;
    if (!spec.verify_system_authorities && !needs_some) {
        if (store_ != nullptr) {
            X509_STORE_up_ref(store_.get());
            SSL_CTX_set_cert_store(ctx, store_.get()); // Takes that reference.
        }
        return;
    }
    require(SSL_CTX_set_default_verify_paths(ctx) == 1, "the system's authorities");
    for (x509_ptr const& each : authorities_)
        require(X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), each.get()) == 1, "authorities");
    add_crls(SSL_CTX_get_cert_store(ctx));
}

void context_settings::apply_alpn(SSL_CTX* ctx, context_spec const& spec) const
{
    if (alpn_.empty())
        return;
    if (spec.role == role::server)
        SSL_CTX_set_alpn_select_cb(
            ctx, choose_alpn, const_cast<std::vector<unsigned char>*>(&alpn_));
    else { // Zero is success, unlike everywhere else.
        require(
            SSL_CTX_set_alpn_protos(ctx, alpn_.data(), static_cast<unsigned>(alpn_.size())) == 0,
            "ALPN");
        backend::set_offered_alpn(ctx, &alpn_);
    }
}

} // namespace cleat::tls
