// What AWS-LC and BoringSSL have in common.
#include "libssl_dialect.hpp"

namespace study {

library_context::library_context(bool own)
{
    if (own)
        throw unsupported("the library has no library contexts");
}

library_context::~library_context() = default;

SSL_CTX* library_context::new_ctx(SSL_METHOD const* method) const
{
    return SSL_CTX_new(method);
}

std::uint16_t group_number(SSL const* tls)
{
    return SSL_get_curve_id(tls);
}

bool resumes_tls13_from_state()
{
    return false;
}

bool server_renegotiates()
{
    return false;
}

} // namespace study
