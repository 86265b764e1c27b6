// tls13_suite: where TLS libraries differ in how a suite of TLS 1.3 is set: by name or by number.

#pragma once

#include <openssl/ssl.h>

/// set_tls13_suite offers this one suite of TLS 1.3, by its name. False: the library has none of
/// it.
[[nodiscard]] bool set_tls13_suite(SSL_CTX* context, char const* name);
