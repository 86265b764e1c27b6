// The schemes of the CertificateRequest. The family has one list for both versions of TLS, so the
// SNI callback, which is called with or without SNI once the version is known, sets the list of the
// version (client_hello.cpp).

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/client_schemes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleat::tls {

bool bssl::set_schemes(SSL* ssl, backend::version_schemes const& schemes) noexcept
{
    std::vector<backend::signature_scheme_name> const& all =
        SSL_version(ssl) == TLS1_2_VERSION ? schemes.tls_1_2 : schemes.tls_1_3;
    std::array<std::uint16_t, 32> numbers{};
    std::size_t const count = std::min(all.size(), numbers.size());
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = all[i].number;
    return SSL_set_verify_algorithm_prefs(ssl, numbers.data(), count) == 1;
}

bool backend::ask_for_schemes(SSL_CTX* ctx, version_schemes const* schemes)
{
    bssl::on_server_name(ctx, schemes);
    return true;
}

} // namespace cleat::tls
