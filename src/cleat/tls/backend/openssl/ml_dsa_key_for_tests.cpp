// ML-DSA keys for tests, with OpenSSL from 3.5 on.

#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/evp.h>

#include <string>

namespace cleat::tls {

evp_pkey_ptr make_ml_dsa_test_key(key_type type)
{
    std::string const name{key_name(type)};
    evp_pkey_ptr key{EVP_PKEY_Q_keygen(nullptr, nullptr, name.c_str())};
    clear_errors();
    return key;
}

} // namespace cleat::tls
