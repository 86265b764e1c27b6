// certificate_choice: which of a server's certificates a client gets. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/name_index.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_choice decides by SNI, then by the kind of key. Connections begin with initial(),
/// which suits most clients, so that most connections need no change of SSL_CTX.
class certificate_choice
{
public:
    struct rules
    {
        bool tls_1_2 = true;
        bool tls_1_3 = true;
        bool refuse_unknown_names = false;
    };

    explicit certificate_choice(rules r) noexcept : rules_{r} {}

    /// add takes the next certificate, with the SSL_CTX that serves it, which must outlive the
    /// choice. The last one added is the default, together with those of other kinds of key for the
    /// same names.
    void add(certificate const& next, SSL_CTX* ctx, std::vector<std::string>& warnings);

    /// initial is the SSL_CTX that connections are made from. Null before the first add.
    [[nodiscard]] SSL_CTX* initial() const noexcept;

    /// is_needed: there are several certificates, or unknown names to refuse.
    [[nodiscard]] bool is_needed() const noexcept;

    /// choose is the SSL_CTX for a ClientHello, or null to refuse it. A ClientHello without SNI is
    /// not refused.
    [[nodiscard]] SSL_CTX* choose(backend::client_hello const& hello) const noexcept;

private:
    struct served
    {
        SSL_CTX* ctx;
        key_type type;
        std::string origin;
    };

    [[nodiscard]] name_index::number preferred(
        name_index::choice const& candidates, backend::client_hello const& hello) const noexcept;
    void choose_default(certificate const& last, name_index::number number);

    rules rules_;
    std::vector<served> served_;
    std::vector<std::uint16_t>
        ecdsa_suites_; // TLS 1.2 suites for ECDSA and Ed25519 that the settings allow.
    name_index names_;
    name_index::choice default_;
};

} // namespace cleat::tls
