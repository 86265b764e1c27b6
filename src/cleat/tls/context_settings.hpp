// context_settings: the settings that all SSL_CTX of a context have in common, computed once from
// the spec. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleat::tls {

using x509_store_ptr = std::unique_ptr<X509_STORE, freed_by<X509_STORE_free>>;

/// context_settings must outlive every SSL_CTX that it made.
class context_settings
{
public:
    /// Throws spec_error for settings that the library or cleat does not support. Settings that the
    /// library ignores silently, such as an unknown name among cipher suites, are added to
    /// warnings.
    context_settings(
        backend::library_state const& library, context_spec const& spec,
        std::vector<std::string>& warnings);

    /// new_ctx makes an SSL_CTX with all settings, still without certificate.
    [[nodiscard]] ssl_ctx_ptr new_ctx(
        backend::library_state const& library, context_spec const& spec,
        ticket_keys* tickets) const;

    /// session_scope of a certificate with these names. A session resumes only in the same scope,
    /// so under no other server's name (RFC 6066, section 3). A renewed certificate has the same
    /// scope.
    [[nodiscard]] std::array<std::uint8_t, 32> session_scope(std::vector<std::string> names) const;

    /// groups are the key exchange groups of the spec that the library has.
    [[nodiscard]] std::string const& groups() const noexcept { return groups_; }

    /// rules is a hash of the session scope and of the verification, as text of its bytes.
    [[nodiscard]] std::string rules() const
    {
        return {
            reinterpret_cast<char const*>(session_id_context_.data()), session_id_context_.size()};
    }

private:
    void apply_suites(SSL_CTX* ctx, context_spec const& spec) const;
    void apply_tickets(SSL_CTX* ctx, context_spec const& spec, ticket_keys* tickets) const;
    void apply_verification(SSL_CTX* ctx, context_spec const& spec) const;
    void apply_authorities(SSL_CTX* ctx, context_spec const& spec) const;
    void add_crls(X509_STORE* store) const;
    void apply_schemes(SSL_CTX* ctx) const;
    void apply_alpn(SSL_CTX* ctx, context_spec const& spec) const;

    std::string groups_;              // Without those that the library does not have.
    std::vector<unsigned char> alpn_; // As on the wire (RFC 7301, section 3.1).
    std::vector<x509_crl_ptr> crls_;
    std::vector<x509_ptr> authorities_; // Parsed once, however many certificates there are.
    x509_store_ptr store_;              // Null: no authorities in the spec.
    backend::version_schemes schemes_;  // Each SSL_CTX points to it. Empty: the library's own.
    verify_function verify_function_;   // Each SSL_CTX points to it.
    std::array<std::byte, 32> session_id_context_{}; // A session resumes only where it is the same.
};

/// spec_with is the spec without certificates, whose clients are verified by another rule.
[[nodiscard]] context_spec spec_with(context_spec const& spec, client_rule const& rule);

/// is_ip_address: the text is an IP address, which must not be sent as SNI (RFC 6066, section 3).
[[nodiscard]] bool is_ip_address(std::string const& text) noexcept;

} // namespace cleat::tls
