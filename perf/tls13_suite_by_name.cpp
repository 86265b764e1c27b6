#include "tls13_suite.hpp"

bool set_tls13_suite(SSL_CTX* context, char const* name)
{
    return SSL_CTX_set_ciphersuites(context, name) == 1;
}
