// certificate_choice: which of a server's certificates a client gets. Not a public header.

#pragma once

#include <cleat/tls/backend.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_set.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cleat::tls {

/// certificate_choice decides by SNI, then by the kind of key. Connections begin with initial(),
/// which suits most clients, so that most connections need no change.
class certificate_choice
{
public:
    using number = certificate_set::number;
    static constexpr number none = certificate_store::none;

    struct rules
    {
        bool tls_1_2 = true;
        bool tls_1_3 = true;
        bool refuse_unknown_names = false;
    };
    [[nodiscard]] static rules rules_of(context_spec const& spec) noexcept;

    /// selection is the certificates for a client's SNI, the preferred one first. Empty: the client
    /// is refused.
    struct selection
    {
        enum class reason : std::uint8_t
        {
            exact_name,
            wildcard,
            no_name,      ///< The client sends no SNI, and gets the default.
            unknown_name, ///< It gets the default.
            refused_name,
        };

        tls::candidates candidates;
        reason why = reason::no_name;
    };

    /// The set outlives the choice.
    certificate_choice(certificate_set const& certificates, rules r) noexcept
        : certificates_{certificates}, rules_{r}
    {
    }

    /// A choice among other certificates, by the same rules.
    certificate_choice(certificate_choice const& like, certificate_set const& certificates)
        : certificates_{certificates}, rules_{like.rules_}, ecdsa_suites_{like.ecdsa_suites_}
    {
    }

    /// take_suites learns from a context with the server's settings which suites they allow.
    void take_suites(SSL_CTX const* ctx);

    /// initial is the certificate that connections begin with. The set has a default.
    [[nodiscard]] number initial() const noexcept
    {
        return certificates_.defaults().front().number;
    }

    [[nodiscard]] certificate_set const& certificates() const noexcept { return certificates_; }

    /// is_needed: there are several certificates, or unknown names to refuse.
    [[nodiscard]] bool is_needed() const noexcept
    {
        return certificates_.size() > 1 || rules_.refuse_unknown_names;
    }

    /// select is the first half of choose. The name is the client's SNI; empty: it sends none.
    [[nodiscard]] selection select(std::string_view name) const noexcept;

    /// choose is the certificate for a ClientHello, or none to refuse it. A ClientHello without SNI
    /// is not refused.
    [[nodiscard]] number choose(backend::client_hello const& hello) const noexcept;

    /// type_for is the type of key of the certificate that choose finds for a ClientHello with this
    /// SNI and these raw parts. Nothing: the client is refused. It allocates nothing.
    [[nodiscard]] std::optional<key_type> type_for(
        std::string_view name, client_offer const& offer) const noexcept;

private:
    [[nodiscard]] candidate const& preferred(
        candidates const& found, client_offer const& offer) const noexcept;

    certificate_set const& certificates_;
    rules rules_;
    std::vector<std::uint16_t>
        ecdsa_suites_; // TLS 1.2 suites for ECDSA and Ed25519 that the settings allow.
};

} // namespace cleat::tls
