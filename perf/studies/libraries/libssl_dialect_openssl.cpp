// OpenSSL, 3.0 or later.
#include "libssl_dialect.hpp"

#include <openssl/crypto.h>
#include <openssl/objects.h>

namespace study {

library_context::library_context(bool own) : own_(own ? OSSL_LIB_CTX_new() : nullptr)
{
    if (own && own_ == nullptr)
        throw std::runtime_error("OSSL_LIB_CTX_new failed");
}

library_context::~library_context()
{
    OSSL_LIB_CTX_free(static_cast<OSSL_LIB_CTX*>(own_));
}

SSL_CTX* library_context::new_ctx(SSL_METHOD const* method) const
{
    return SSL_CTX_new_ex(static_cast<OSSL_LIB_CTX*>(own_), nullptr, method);
}

std::string libssl_version()
{
    std::string const version = OpenSSL_version(OPENSSL_VERSION); // and then its date
    return version.substr(0, version.find(' ', version.find(' ') + 1));
}

std::uint16_t group_number(SSL const* tls)
{
    // A group without a NID has TLS's number in the lower half.
    auto const found = static_cast<unsigned long>(SSL_get_negotiated_group(const_cast<SSL*>(tls)));
    constexpr std::uint16_t x25519 = 0x001d;
    return found == NID_X25519 ? x25519 : static_cast<std::uint16_t>(found & 0xffff);
}

bool resumes_tls13_from_state()
{
    return true;
}

bool server_renegotiates()
{
    return true;
}

} // namespace study
