// BoringSSL reads no ML-DSA key from PEM: there is none for tests.

#include <cleat/tls/certificates/certificates_for_tests.hpp>

namespace cleat::tls {

evp_pkey_ptr make_ml_dsa_test_key(key_type)
{
    return nullptr;
}

} // namespace cleat::tls
