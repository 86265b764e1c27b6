#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/pem.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>

namespace cleat::tls {
namespace {

using time_point = std::chrono::system_clock::time_point;
using general_names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> text, Parts&&... parts)
{
    clear_errors();
    throw spec_error{fmt::format(text, std::forward<Parts>(parts)...)};
}

std::string reason_text(library_failure const& failure)
{
    return failure.reason.empty() ? "no reason given" : failure.reason;
}

bio_ptr bio_over(std::string_view text)
{
    bio_ptr bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    if (bio == nullptr)
        throw std::bad_alloc{};
    return bio;
}

std::vector<pem_block> blocks_of(std::string_view text, std::string const& origin)
{
    constexpr std::size_t pem_size_max = std::numeric_limits<int>::max(); // BIO counts with an int.
    if (text.size() > pem_size_max)
        refuse("{}: {} bytes are too much for a PEM file", origin, text.size());
    return pem_blocks(text);
}

void require_complete(pem_block const& block, std::string const& origin)
{
    if (!block.complete)
        refuse(
            "{}: the {} that begins on line {} has no end: the file is cut short; copy it again",
            origin, block.label, block.line);
}

std::vector<x509_ptr> read_certificates(
    backend::library_state const& library, std::string_view text, std::string const& origin)
{
    std::vector<x509_ptr> found;
    for (pem_block const& block : blocks_of(text, origin)) {
        if (!block.is_certificate())
            continue;
        require_complete(block, origin);
        clear_errors();
        bio_ptr const bio = bio_over(block.text);
        x509_ptr one = library.read_certificate(bio.get());
        if (one == nullptr)
            refuse(
                "{}: the certificate on line {} cannot be decoded ({}): the file is damaged; get "
                "it again from where it was issued",
                origin, block.line, reason_text(drain_errors()));
        found.push_back(std::move(one));
    }
    return found;
}

void match(certificate const& read)
{
    if (X509_check_private_key(read.leaf.get(), read.key.get()) == 1)
        return;
    clear_errors();
    for (std::size_t i = 0; i < read.chain.size(); ++i)
        if (X509_check_private_key(read.chain[i].get(), read.key.get()) == 1)
            refuse(
                "{}: the private key belongs to certificate {} of the file, not to the first: put "
                "the server's own certificate first, then the intermediates",
                read.origin, i + 2);
    refuse(
        "{}: the private key does not belong to the certificate: compare `openssl x509 -pubkey "
        "-noout` of "
        "the one with `openssl pkey -pubout` of the other",
        read.origin);
}

std::string date(ASN1_TIME const* asn1_time)
{
    std::optional<std::int64_t> const seconds = backend::posix_time(asn1_time);
    if (!seconds)
        return "an unreadable date";
    return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(*seconds)));
}

void check_dates(
    X509 const* x509, std::string_view description, std::string const& origin, time_point now,
    std::vector<std::string>& warnings)
{
    std::time_t const today = std::chrono::system_clock::to_time_t(now);
    ASN1_TIME const* const first = X509_get0_notBefore(x509);
    ASN1_TIME const* const last = X509_get0_notAfter(x509);
    if (backend::posix_time(last).value_or(-1) < today)
        warnings.push_back(fmt::format(
            "{}: {} expired on {}: clients will refuse it; renew it", origin, description,
            date(last)));
    else if (backend::posix_time(first).value_or(-1) > today)
        warnings.push_back(fmt::format(
            "{}: {} is valid from {} only: clients will refuse it until then; check this machine's "
            "clock",
            origin, description, date(first)));
}

void check_chain(certificate const& read, time_point now, std::vector<std::string>& warnings)
{
    check_dates(read.leaf.get(), "the certificate", read.origin, now, warnings);
    X509 const* below = read.leaf.get();
    for (std::size_t i = 0; i < read.chain.size(); ++i) {
        X509 const* const above = read.chain[i].get();
        check_dates(
            above, fmt::format("certificate {} of the chain", i + 2), read.origin, now, warnings);
        if (X509_NAME_cmp(X509_get_issuer_name(below), X509_get_subject_name(above)) != 0)
            warnings.push_back(fmt::format(
                "{}: certificate {} did not issue the one before it: put the chain in order, "
                "server first, "
                "or some clients will not find the way to the root",
                read.origin, i + 2));
        below = above;
    }
}

std::string_view text_of(ASN1_STRING const* string)
{
    return {
        reinterpret_cast<char const*>(ASN1_STRING_get0_data(string)),
        static_cast<std::size_t>(ASN1_STRING_length(string))};
}

void read_names(certificate& read, std::vector<std::string>& warnings)
{
    host_names found = host_names_in(read.leaf.get());
    read.names = std::move(found.usable);
    for (std::string const& name : found.unusable)
        warnings.push_back(fmt::format(
            "{}: the name {:?} in the certificate is no DNS name and no wildcard for one label: "
            "no client will be matched by it",
            read.origin, name));
}

} // namespace

evp_pkey_ptr read_private_key(
    backend::library_state const& library, std::string_view pem, std::string const& origin)
{
    std::vector<pem_block> const blocks = blocks_of(pem, origin);
    auto const block = std::ranges::find_if(blocks, &pem_block::is_private_key);
    std::string_view const hint = block == blocks.end() ? conversion_hint(pem) : std::string_view{};
    if (!hint.empty())
        refuse("{}: there is no private key in PEM form in it: {}", origin, hint);
    if (block == blocks.end())
        refuse(
            "{}: there is no private key in it: append the key in PEM form, or name the file with "
            "the key",
            origin);
    require_complete(*block, origin);
    if (block->is_encrypted())
        refuse(
            "{}: the private key on line {} is encrypted, and no passphrase can be entered here: "
            "decrypt it with `openssl pkey -in FILE -out KEY` and restrict KEY to its "
            "owner",
            origin, block->line);
    clear_errors();
    bio_ptr const bio = bio_over(block->text);
    evp_pkey_ptr key = library.read_private_key(bio.get());
    if (key == nullptr)
        refuse(
            "{}: the private key on line {} cannot be decoded ({}): the file is damaged, or the "
            "key is of a type that {} does not have; use RSA, or ECDSA on P-256",
            origin, block->line, reason_text(drain_errors()), library_version());
    return key;
}

key_type server_key_type(EVP_PKEY* key, std::string const& origin)
{
    std::optional<key_type> const type = backend::key_type_of(key);
    if (!type)
        refuse(
            "{}: TLS servers here use RSA, ECDSA on P-256, P-384 or P-521, Ed25519, and ML-DSA "
            "where the TLS library has it: this key is none of them; have a certificate issued for "
            "an ECDSA P-256 key",
            origin);
    return *type;
}

std::vector<x509_ptr> read_chain(
    backend::library_state const& library, std::string_view pem, std::string const& origin)
{
    std::vector<x509_ptr> found = read_certificates(library, pem, origin);
    std::string_view const hint = found.empty() ? conversion_hint(pem) : std::string_view{};
    if (!hint.empty())
        refuse("{}: there is no certificate in PEM form in it: {}", origin, hint);
    if (found.empty())
        refuse(
            "{}: there is no certificate in it: expected PEM, a block from -----BEGIN "
            "CERTIFICATE----- to "
            "-----END CERTIFICATE-----",
            origin);
    return found;
}

certificate read_certificate(
    backend::library_state const& library, certificate_text const& source, time_point now,
    std::vector<std::string>& warnings)
{
    certificate read;
    read.origin = source.origin.empty() ? "certificate" : source.origin;
    read.chain = read_chain(library, source.chain, read.origin);
    read.leaf = std::move(read.chain.front());
    read.chain.erase(read.chain.begin());

    read.key = read_private_key(library, source.private_key, read.origin);
    match(read);
    read.type = server_key_type(read.key.get(), read.origin);

    check_chain(read, now, warnings);
    read_names(read, warnings);
    if (!source.ocsp_response.empty())
        read.staple = read_ocsp_response(
            source.ocsp_response, source.ocsp_origin.empty() ? read.origin : source.ocsp_origin,
            read.leaf.get(), now, warnings);
    clear_errors();
    return read;
}

std::vector<x509_ptr> read_authorities(
    backend::library_state const& library, std::string_view pem, std::string const& origin)
{
    std::string const named = origin.empty() ? "authorities" : origin;
    std::vector<x509_ptr> found = read_certificates(library, pem, named);
    if (found.empty())
        refuse(
            "{}: there is no certificate in it: expected the authorities' certificates in PEM form",
            named);
    clear_errors();
    return found;
}

host_names host_names_in(X509 const* x509)
{
    general_names_ptr const san{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr))};
    host_names found;
    int const count = san == nullptr ? 0 : static_cast<int>(sk_GENERAL_NAME_num(san.get()));
    for (int i = 0; i < count; ++i) {
        GENERAL_NAME const* const each = sk_GENERAL_NAME_value(
            san.get(), static_cast<decltype(sk_GENERAL_NAME_num(san.get()))>(i));
        if (each->type != GEN_DNS)
            continue;
        std::string_view const name = text_of(each->d.dNSName);
        (is_usable_name(name) ? found.usable : found.unusable).emplace_back(name);
    }
    if (!found.usable.empty() || !found.unusable.empty())
        return found;
    if (std::string const name = common_name(x509); is_usable_name(name))
        found.usable.push_back(name);
    return found;
}

std::chrono::seconds lifetime_of(X509 const* x509) noexcept
{
    std::optional<std::int64_t> const first = backend::posix_time(X509_get0_notBefore(x509));
    std::optional<std::int64_t> const last = backend::posix_time(X509_get0_notAfter(x509));
    return std::chrono::seconds{first && last && *first <= *last ? *last - *first + 1 : 0};
}

std::string common_name(X509 const* x509)
{
    return entry_in(X509_get_subject_name(x509), NID_commonName);
}

std::string trusted_pem_text(X509* x509)
{
    bio_ptr const out{BIO_new(BIO_s_mem())};
    if (out == nullptr || PEM_write_bio_X509_AUX(out.get(), x509) != 1) {
        clear_errors();
        return {};
    }
    char* text = nullptr;
    long const size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

std::string entry_in(X509_NAME const* name, int nid)
{
    int last = -1;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(name, nid, i)) >= 0;)
        last = i;
    if (last < 0)
        return {};
    X509_NAME_ENTRY const* const entry = X509_NAME_get_entry(name, last);
    unsigned char* utf8 = nullptr;
    int const size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
    if (size < 0) {
        clear_errors();
        return {};
    }
    std::string text{reinterpret_cast<char const*>(utf8), static_cast<std::size_t>(size)};
    OPENSSL_free(utf8);
    return text;
}

} // namespace cleat::tls
