// context_settings: what every SSL_CTX of a context has in common, worked out of the spec once. Not
// a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/handles.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cleat::tls {

using x509_store_ptr = std::unique_ptr<X509_STORE, freed_by<X509_STORE_free>>;

/// context_settings must outlive the contexts that it was applied to.
class context_settings
{
public:
    /// Throws spec_error for what the library or cleat cannot do. What the library passes over in
    /// silence, such as one unknown name among its cipher suites, is added to warnings.
    context_settings(
        backend::library_state const& library, context_spec const& spec,
        std::vector<std::string>& warnings);

    /// new_ctx makes an SSL_CTX with all settings, still without certificate.
    [[nodiscard]] ssl_ctx_ptr new_ctx(
        backend::library_state const& library, context_spec const& spec,
        ticket_keys* tickets) const;

    /// groups are the key exchange groups of the spec that the library has.
    [[nodiscard]] std::string const& groups() const noexcept { return groups_; }

private:
    void apply_suites(SSL_CTX* ctx, context_spec const& spec) const;
    void apply_tickets(SSL_CTX* ctx, context_spec const& spec, ticket_keys* tickets) const;
    void apply_verification(SSL_CTX* ctx, context_spec const& spec) const;
    void apply_authorities(SSL_CTX* ctx, context_spec const& spec) const;
    void apply_alpn(SSL_CTX* ctx, context_spec const& spec) const;

    std::string groups_;                // Without what the library does not have.
    std::vector<unsigned char> alpn_;   // As on the wire (RFC 7301, section 3.1).
    std::vector<x509_ptr> authorities_; // Parsed once, however many certificates there are.
    x509_store_ptr store_;              // Null: no authorities, or the system's own beside them.
    verify_function verify_function_;   // What the contexts point to.
    std::array<std::byte, 32> session_id_context_{}; // Sessions resume only where this is the same.
};

/// is_ip_address: an address where a name could be: it gets no SNI (RFC 6066, section 3).
[[nodiscard]] bool is_ip_address(std::string const& text) noexcept;

} // namespace cleat::tls
