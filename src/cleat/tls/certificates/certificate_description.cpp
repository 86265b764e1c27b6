#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/pem.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/x509v3.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

std::string display_name(X509_NAME const* name)
{
    std::string const host = entry_in(name, NID_commonName);
    return host.empty() ? entry_in(name, NID_organizationName) : host;
}

void describe_public_key(X509 const* leaf, certificate_description& facts)
{
    evp_pkey_ptr const key{X509_get_pubkey(const_cast<X509*>(leaf))};
    if (key == nullptr) {
        clear_errors();
        facts.key = "unknown";
        return;
    }
    int const id = EVP_PKEY_id(key.get());
    facts.key_bits = static_cast<unsigned>(std::max(EVP_PKEY_bits(key.get()), 0));
    if (id == EVP_PKEY_RSA || id == EVP_PKEY_RSA_PSS)
        facts.family = key_family::rsa;
    else if (id == EVP_PKEY_EC)
        facts.family = key_family::elliptic_curve;
    char const* const other = OBJ_nid2ln(id);
    if (std::optional<key_type> const type = backend::key_type_of(key.get()))
        facts.key = key_name(*type);
    else if (facts.family == key_family::elliptic_curve)
        facts.key = "EC";
    else
        facts.key = other == nullptr ? "unknown" : other;
    clear_errors();
}

bool is_sha1(int signature) noexcept
{
    return signature == NID_sha1WithRSAEncryption || signature == NID_sha1WithRSA ||
           signature == NID_ecdsa_with_SHA1 || signature == NID_dsaWithSHA1;
}

bool issued(X509 const* issuer, X509 const* below) noexcept
{
    return X509_NAME_cmp(X509_get_issuer_name(below), X509_get_subject_name(issuer)) == 0;
}

void describe_chain(
    X509 const* leaf, std::vector<x509_ptr> const& chain, certificate_description& facts)
{
    auto const has_issuer = [&](X509 const* below) {
        return std::ranges::any_of(
            chain, [&](x509_ptr const& each) { return issued(each.get(), below); });
    };
    facts.lacks_issuer = !issued(leaf, leaf) && !has_issuer(leaf);
    X509 const* below = leaf;
    for (std::size_t i = 0; i < chain.size(); ++i) {
        X509 const* const above = chain[i].get();
        facts.chain.push_back(
            {display_name(X509_get_subject_name(above)),
             backend::posix_time(X509_get0_notBefore(above)).value_or(0),
             backend::posix_time(X509_get0_notAfter(above)).value_or(0)});
        bool const is_lack = below == leaf && facts.lacks_issuer;
        if (!issued(above, below) && !is_lack)
            facts.misplaced.push_back(i + 2);
        below = above;
    }
}

certificate_description describe(X509 const* leaf, std::vector<x509_ptr> const& chain)
{
    certificate_description facts;
    facts.subject = display_name(X509_get_subject_name(leaf));
    facts.issuer = display_name(X509_get_issuer_name(leaf));
    host_names found = host_names_in(leaf);
    facts.names = std::move(found.usable);
    facts.unusable_names = std::move(found.unusable);
    facts.has_san = X509_get_ext_by_NID(leaf, NID_subject_alt_name, -1) >= 0;
    describe_public_key(leaf, facts);
    int const signature = X509_get_signature_nid(leaf);
    char const* const name = OBJ_nid2ln(signature);
    facts.signature = signature == NID_undef || name == nullptr ? "unknown" : name;
    facts.is_sha1 = is_sha1(signature);
    facts.valid_from = backend::posix_time(X509_get0_notBefore(leaf)).value_or(0);
    facts.valid_until = backend::posix_time(X509_get0_notAfter(leaf)).value_or(0);
    facts.lifetime = lifetime_of(leaf);
    describe_chain(leaf, chain, facts);
    clear_errors();
    return facts;
}

bio_ptr bio_of(std::string_view text)
{
    bio_ptr bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    if (bio == nullptr)
        throw std::bad_alloc{};
    return bio;
}

// True where there is no key that can be read: that is another fault.
bool key_matches(
    backend::library_state const& library, X509 const* leaf, std::string_view private_key)
{
    std::vector<pem_block> const blocks = pem_blocks(private_key);
    auto const block = std::ranges::find_if(blocks, &pem_block::is_private_key);
    if (block == blocks.end() || block->is_encrypted())
        return true;
    evp_pkey_ptr const key = library.read_private_key(bio_of(block->text).get());
    bool const found =
        key == nullptr || X509_check_private_key(const_cast<X509*>(leaf), key.get()) == 1;
    clear_errors();
    return found;
}

} // namespace

std::string_view key_name(key_type type) noexcept
{
    switch (type) {
    case key_type::rsa:
        return "RSA";
    case key_type::ecdsa_p256:
        return "ECDSA P-256";
    case key_type::ecdsa_p384:
        return "ECDSA P-384";
    case key_type::ecdsa_p521:
        return "ECDSA P-521";
    case key_type::ml_dsa_44:
        return "ML-DSA-44";
    case key_type::ml_dsa_65:
        return "ML-DSA-65";
    case key_type::ml_dsa_87:
        return "ML-DSA-87";
    case key_type::ed25519:
        break;
    }
    return "Ed25519";
}

certificate_description describe_certificate(certificate const& read)
{
    return describe(read.leaf.get(), read.chain);
}

std::optional<certificate_description> describe_certificate(
    backend::library_state const& library, certificate_text const& text)
{
    constexpr std::size_t size_max = std::numeric_limits<int>::max(); // BIO counts with an int.
    if (text.chain.size() > size_max || text.private_key.size() > size_max)
        return {};
    std::vector<x509_ptr> chain;
    for (pem_block const& block : pem_blocks(text.chain)) {
        if (!block.is_certificate())
            continue;
        x509_ptr one = library.read_certificate(bio_of(block.text).get());
        clear_errors();
        if (one == nullptr)
            return {};
        chain.push_back(std::move(one));
    }
    if (chain.empty())
        return {};
    x509_ptr const leaf = std::move(chain.front());
    chain.erase(chain.begin());
    certificate_description facts = describe(leaf.get(), chain);
    facts.key_matches = key_matches(library, leaf.get(), text.private_key);
    return facts;
}

} // namespace cleat::tls
