// OpenSSL sends alerts for its own reasons only: no call of its interface sends one.

#include <cleat/tls/backend.hpp>

namespace cleat::tls::backend {

int send_fatal_alert(SSL* ssl, std::uint8_t alert) noexcept
{
    static_cast<void>(alert);
    static_cast<void>(ssl);
    return 1;
}

} // namespace cleat::tls::backend
