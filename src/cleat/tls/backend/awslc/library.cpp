// What AWS-LC has beyond, or says otherwise than, the rest of the BoringSSL family.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/capabilities.hpp>
#include <cleat/tls/context.hpp>

#include <openssl/base.h>
#include <openssl/err.h>

namespace cleat::tls {

// BoringSSL gives no error for FIN without close_notify, AWS-LC gives OpenSSL's.
bool backend::is_truncation(std::uint32_t library_error) noexcept
{
    return ERR_GET_LIB(library_error) == ERR_LIB_SSL &&
           ERR_GET_REASON(library_error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

std::string library_version()
{
    return "AWS-LC " AWSLC_VERSION_NUMBER_STRING;
}

capabilities library_capabilities() noexcept
{
    return {
        .post_quantum_group = true,
        .library_contexts = false,
        .signature_scheme = false,
        .sheds_handshake = true,
    };
}

} // namespace cleat::tls
