#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_check.hpp>

#include <chrono>
#include <vector>

namespace cleat::tls {

void check_chain_pem(std::string_view pem, std::string const& origin)
{
    backend::library_state const library;
    static_cast<void>(read_chain(library, pem, origin));
}

void check_authorities_pem(std::string_view pem, std::string const& origin)
{
    backend::library_state const library;
    static_cast<void>(read_authorities(library, pem, origin));
}

void check_key_pem(std::string_view pem, std::string const& origin)
{
    backend::library_state const library;
    evp_pkey_ptr const key = read_private_key(library, pem, origin);
    static_cast<void>(server_key_type(key.get(), origin));
}

key_type check_pair(certificate_source const& pair)
{
    backend::library_state const library;
    std::vector<std::string> warnings;
    return read_certificate(library, pair, std::chrono::system_clock::now(), warnings).type;
}

} // namespace cleat::tls
