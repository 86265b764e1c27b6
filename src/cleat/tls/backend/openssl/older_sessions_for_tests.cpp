// OpenSSL asks nobody for the time. In TLS 1.3 it gives a session the time of its ticket right
// before it calls the callback of the ticket's application data, and in TLS 1.2 that of the
// ClientHello.

#include <cleat/tls/older_sessions_for_tests.hpp>

#include <openssl/ssl.h>

#include <ctime>

namespace cleat::tls {
namespace {

int make_older(SSL* ssl, void*)
{
    SSL_SESSION* const made = SSL_get_session(ssl);
    if (made != nullptr)
        SSL_SESSION_set_time(made, std::time(nullptr) - older_by.count());
    return 1;
}

} // namespace

void make_sessions_older(context const& server)
{
    SSL_CTX_set_session_ticket_cb(server.native_handle(), make_older, nullptr, nullptr);
    SSL_CTX_set_info_callback(server.native_handle(), [](SSL const* ssl, int, int) {
        if (SSL_version(ssl) != TLS1_3_VERSION)
            make_older(const_cast<SSL*>(ssl), nullptr);
    });
}

} // namespace cleat::tls
