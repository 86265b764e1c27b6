// ML-DSA keys for tests, with AWS-LC.

#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <openssl/evp.h>

#include <memory>

namespace cleat::tls {
namespace {

int parameters_of(key_type type) noexcept
{
    if (type == key_type::ml_dsa_44)
        return NID_MLDSA44;
    return type == key_type::ml_dsa_65 ? NID_MLDSA65 : NID_MLDSA87;
}

} // namespace

evp_pkey_ptr make_ml_dsa_test_key(key_type type)
{
    std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>> const ctx{
        EVP_PKEY_CTX_new_id(EVP_PKEY_PQDSA, nullptr)};
    EVP_PKEY* key = nullptr;
    if (ctx == nullptr || EVP_PKEY_CTX_pqdsa_set_params(ctx.get(), parameters_of(type)) != 1 ||
        EVP_PKEY_keygen_init(ctx.get()) != 1 || EVP_PKEY_keygen(ctx.get(), &key) != 1)
        return nullptr;
    return evp_pkey_ptr{key};
}

} // namespace cleat::tls
