// challenge: a connection of an ACME server that validates a name by tls-alpn-01 (RFC 8737).

#pragma once

#include <cleat/tls/hello/client_hello_reader.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

/// challenge_protocol is the name in ALPN.
inline constexpr std::string_view challenge_protocol = "acme-tls/1";

/// is_challenge: the client offers this protocol and no other, and names a host (RFC 8737, section
/// 3).
[[nodiscard]] bool is_challenge(tls::hello_facts const& hello) noexcept;

/// challenge_files are where a hook may put the certificate that answers for a name: NAME.crt.pem
/// with NAME.key.pem beside it, or NAME.pem with both. Names are in lower case. The first that
/// exists counts. The name is one that is_challenge has seen.
[[nodiscard]] std::vector<tls::certificate_paths> challenge_files(
    std::string_view folder, std::string_view name);

} // namespace cleat::app
