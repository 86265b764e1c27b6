#include <cleat/tls/older_sessions_for_tests.hpp>

#include <openssl/ssl.h>

#include <ctime>

#include <sys/time.h>

namespace cleat::tls {

void make_sessions_older(context const& server)
{
    SSL_CTX_set_current_time_cb(server.native_handle(), [](SSL const*, timeval* now) {
        *now = {std::time(nullptr) - older_by.count(), 0};
    });
}

} // namespace cleat::tls
