// explanation: what a client would get from one frontend, and why.

#pragma once

#include "command_line/command.hpp"
#include "snapshot/snapshot.hpp"

#include <cleat/tls/certificates/certificate_choice.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// explained_certificate is one that a client may get.
struct explained_certificate
{
    std::string files; ///< As certificate_store::origin.
    std::string key;   ///< "ECDSA P-256"
};

/// explained_refusal is the alert that a client gets.
enum class explained_refusal
{
    none,
    unrecognized_name,
    no_application_protocol,
};
[[nodiscard]] std::string_view to_string(explained_refusal refusal) noexcept;

struct frontend_explanation
{
    std::string frontend;
    std::size_t upstream = 0; ///< Its number in the snapshot.
    /// The one that takes the client, if it shows no certificate; empty: none does.
    std::optional<planned_route> route;
    std::vector<planned_route> by_certificate{}; ///< Those that its certificate may lead to.
    bool has_routes = false;
    bool takes_plaintext = false; ///< There is nothing of TLS then.
    /// The route whose settings of TLS and limits hold for the client; empty: the frontend's do.
    std::optional<planned_route> settings{};
    announcement_rule announcement{}; ///< For the upstream, about the client.
    std::string challenge{};          ///< The files that answer its ACME challenge; empty: none.
    admission const* rules = nullptr; ///< The snapshot's. Null: every client may connect.
    frontend_limit limit{};           ///< Of the frontend, and of its clients.
    frontend_limit route_limit{};     ///< Of the route, likewise.
    explained_refusal refusal = explained_refusal::none;
    tls::certificate_choice::selection::reason why{};
    std::vector<explained_certificate> certificates; ///< The preferred one first.
    std::vector<std::string> versions;               ///< "TLS 1.3"
    std::optional<std::string> protocol;             ///< By ALPN; empty: none is agreed on.
    std::vector<std::string> protocols;              ///< That the frontend has.
    tls::peer_verification verification{};
    std::string authorities;                   ///< Their file, where clients are verified.
    std::optional<std::size_t> client_rules{}; ///< Unset: each certificate that verifies is good.
    bool has_tickets = false;                  ///< Sessions resume.
    std::chrono::seconds ticket_lifetime{};
    std::string ticket_file{}; ///< Empty: the secret is random.
};

/// explain_frontend decides as the handshake does: by certificate_choice and choose_protocol. The
/// snapshot has a catalog. The name is the client's SNI; empty: it sends none. The address may be
/// unknown.
[[nodiscard]] frontend_explanation explain_frontend(
    snapshot const& configuration, frontend_plan const& plan, std::string_view server_name,
    std::vector<std::string> const& offered, std::optional<ip_address> const& address = {});

/// sni_of is the SNI that a client sends for a name: none for an IP address (RFC 6066, section 3).
[[nodiscard]] std::string sni_of(std::string const& name);

} // namespace cleat::app
