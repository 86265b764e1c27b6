#include <cleat/tls/certificates/certificates_for_tests.hpp>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <stdexcept>

namespace cleat::tls {
namespace {

using key_ctx_ptr = std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>>;
using name_ptr = std::unique_ptr<X509_NAME, freed_by<X509_NAME_free>>;
using time_ptr = std::unique_ptr<ASN1_TIME, freed_by<ASN1_TIME_free>>;
using integer_ptr = std::unique_ptr<ASN1_INTEGER, freed_by<ASN1_INTEGER_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

void require(bool done, char const* what)
{
    if (!done)
        throw std::runtime_error{what};
}

std::string text_in(BIO* bio)
{
    char* data = nullptr;
    long const size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

evp_pkey_ptr key_of(key_type type)
{
    switch (type) {
    case key_type::ecdsa_p256:
        return make_test_key(EVP_PKEY_EC, NID_X9_62_prime256v1);
    case key_type::ecdsa_p384:
        return make_test_key(EVP_PKEY_EC, NID_secp384r1);
    case key_type::ecdsa_p521:
        return make_test_key(EVP_PKEY_EC, NID_secp521r1);
    case key_type::ed25519:
        return make_test_key(EVP_PKEY_ED25519, NID_undef);
    case key_type::ml_dsa_44:
    case key_type::ml_dsa_65:
    case key_type::ml_dsa_87:
        return make_ml_dsa_test_key(type);
    case key_type::rsa:
        break;
    }
    // A new RSA key takes 100 ms: the tests share one.
    static evp_pkey_ptr const rsa = make_test_key(EVP_PKEY_RSA, NID_undef);
    require(EVP_PKEY_up_ref(rsa.get()) == 1, "rsa");
    return evp_pkey_ptr{rsa.get()};
}

void add_extension(X509* x509, X509* issuer, int nid, std::string const& value)
{
    X509V3_CTX ctx{};
    X509V3_set_ctx(&ctx, issuer, x509, nullptr, nullptr, 0);
    extension_ptr const made{X509V3_EXT_nconf_nid(nullptr, &ctx, nid, value.c_str())};
    require(made != nullptr && X509_add_ext(x509, made.get(), -1) == 1, "extension");
}

void set_name(X509* x509, std::string const& common_name)
{
    name_ptr const name{X509_NAME_new()};
    if (!common_name.empty())
        require(
            X509_NAME_add_entry_by_txt(
                name.get(), "CN", MBSTRING_UTF8,
                reinterpret_cast<unsigned char const*>(common_name.data()),
                static_cast<int>(common_name.size()), -1, 0) == 1,
            "name");
    require(X509_set_subject_name(x509, name.get()) == 1, "subject");
}

time_ptr in_days(int days)
{
    return time_ptr{ASN1_TIME_adj(nullptr, std::time(nullptr), days, 0)};
}

} // namespace

evp_pkey_ptr make_test_key(int type, int curve)
{
    key_ctx_ptr const ctx{EVP_PKEY_CTX_new_id(type, nullptr)};
    require(ctx != nullptr && EVP_PKEY_keygen_init(ctx.get()) == 1, "key");
    if (type == EVP_PKEY_EC)
        require(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(ctx.get(), curve) == 1, "curve");
    if (type == EVP_PKEY_RSA)
        require(EVP_PKEY_CTX_set_rsa_keygen_bits(ctx.get(), 2048) == 1, "bits");
    EVP_PKEY* key = nullptr;
    require(EVP_PKEY_keygen(ctx.get(), &key) == 1, "keygen");
    return evp_pkey_ptr{key};
}

std::vector<key_type> usable_key_types()
{
    std::vector<key_type> found{
        key_type::rsa, key_type::ecdsa_p256, key_type::ecdsa_p384, key_type::ecdsa_p521,
        key_type::ed25519};
    for (key_type const each : {key_type::ml_dsa_44, key_type::ml_dsa_65, key_type::ml_dsa_87})
        if (make_ml_dsa_test_key(each) != nullptr)
            found.push_back(each);
    return found;
}

test_identity make_identity(test_identity_spec const& spec)
{
    return sign_identity(key_of(spec.type), spec);
}

test_identity sign_identity(evp_pkey_ptr key, test_identity_spec const& spec)
{
    static long serial = 0;
    test_identity made;
    made.key = std::move(key);
    made.certificate.reset(X509_new());
    X509* const x = made.certificate.get();
    X509* const issuer = spec.issuer == nullptr ? x : spec.issuer->certificate.get();
    EVP_PKEY* const signer = spec.issuer == nullptr ? made.key.get() : spec.issuer->key.get();

    integer_ptr const number{ASN1_INTEGER_new()};
    require(X509_set_version(x, 2) == 1 && ASN1_INTEGER_set(number.get(), ++serial) == 1, "serial");
    require(X509_set_serialNumber(x, number.get()) == 1, "serial");
    require(
        X509_set1_notBefore(x, in_days(spec.valid_from_days).get()) == 1 &&
            X509_set1_notAfter(x, in_days(spec.valid_to_days).get()) == 1,
        "dates");
    set_name(x, spec.common_name);
    require(X509_set_issuer_name(x, X509_get_subject_name(issuer)) == 1, "issuer");
    require(X509_set_pubkey(x, made.key.get()) == 1, "public key");
    if (spec.authority) {
        add_extension(x, issuer, NID_basic_constraints, "critical,CA:TRUE");
        add_extension(x, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    }
    std::string names;
    for (std::string const& each : spec.names)
        names += (names.empty() ? "DNS:" : ",DNS:") + each;
    for (std::string const& each : spec.addresses)
        names += (names.empty() ? "IP:" : ",IP:") + each;
    if (!names.empty())
        add_extension(x, issuer, NID_subject_alt_name, names);
    int const kind = EVP_PKEY_id(signer); // The others have a digest of their own.
    bool const wants_digest = kind == EVP_PKEY_RSA || kind == EVP_PKEY_EC;
    require(X509_sign(x, signer, wants_digest ? EVP_sha256() : nullptr) > 0, "signature");

    bio_ptr const certificate{BIO_new(BIO_s_mem())};
    bio_ptr const private_key{BIO_new(BIO_s_mem())};
    require(PEM_write_bio_X509(certificate.get(), x) == 1, "PEM");
    require(
        PEM_write_bio_PrivateKey(
            private_key.get(), made.key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "PEM");
    made.certificate_pem = text_in(certificate.get());
    made.key_pem = text_in(private_key.get());
    return made;
}

std::string crl_with(test_identity const& authority, test_identity const& revoked)
{
    time_ptr const begin{ASN1_TIME_adj(nullptr, std::time(nullptr), 0, -60)};
    time_ptr const end{ASN1_TIME_adj(nullptr, std::time(nullptr), 1, 0)};
    x509_crl_ptr const crl{X509_CRL_new()};
    X509_CRL_set_version(crl.get(), 1);
    X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(authority.certificate.get()));
    X509_CRL_set1_lastUpdate(crl.get(), begin.get());
    X509_CRL_set1_nextUpdate(crl.get(), end.get());
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked.certificate.get()));
    X509_REVOKED_set_revocationDate(entry, begin.get());
    X509_CRL_add0_revoked(crl.get(), entry); // Takes it.
    require(X509_CRL_sign(crl.get(), authority.key.get(), EVP_sha256()) > 0, "CRL");
    bio_ptr const out{BIO_new(BIO_s_mem())};
    require(PEM_write_bio_X509_CRL(out.get(), crl.get()) == 1, "CRL");
    return text_in(out.get());
}

std::string encrypted_pem(EVP_PKEY* key)
{
    bio_ptr const bio{BIO_new(BIO_s_mem())};
    char passphrase[] = "secret";
    require(
        PEM_write_bio_PKCS8PrivateKey(
            bio.get(), key, EVP_aes_256_cbc(), passphrase, sizeof passphrase - 1, nullptr,
            nullptr) == 1,
        "PEM");
    return text_in(bio.get());
}

} // namespace cleat::tls
