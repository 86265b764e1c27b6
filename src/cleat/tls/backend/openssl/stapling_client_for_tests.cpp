#include <cleat/tls/stapling_client_for_tests.hpp>

#include <cstddef>

namespace cleat::tls {

void ask_for_ocsp(SSL* client)
{
    SSL_set_tlsext_status_type(client, TLSEXT_STATUSTYPE_ocsp);
}

std::string received_ocsp(SSL* client)
{
    char const* der = nullptr;
    long const size = SSL_get_tlsext_status_ocsp_resp(client, &der);
    return size <= 0 ? std::string{} : std::string{der, static_cast<std::size_t>(size)};
}

} // namespace cleat::tls
