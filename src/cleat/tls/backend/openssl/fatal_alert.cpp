// OpenSSL sends alerts for its own reasons only: no call of its interface sends one.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {

int send_internal_error(SSL* ssl) noexcept
{
    static_cast<void>(ssl);
    return 1;
}

} // namespace cleat::tls::backend
