#include <cleat/tls/stapling_client_for_tests.hpp>

#include <cstddef>
#include <cstdint>

namespace cleat::tls {

void ask_for_ocsp(SSL* client)
{
    SSL_enable_ocsp_stapling(client);
}

std::string received_ocsp(SSL* client)
{
    std::uint8_t const* der = nullptr;
    std::size_t size = 0;
    SSL_get0_ocsp_response(client, &der, &size);
    return {reinterpret_cast<char const*>(der), size};
}

} // namespace cleat::tls
