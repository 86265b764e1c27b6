#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/certificates/certificate_description.hpp>
#include <cleat/tls/certificates/certificate_names.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_settings.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/peer_facts.hpp>
#include <cleat/tls/session.hpp>

#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include <arpa/inet.h>
#include <unistd.h>

namespace cleat::tls {
namespace {

using general_names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;
using store_ctx_ptr = std::unique_ptr<X509_STORE_CTX, freed_by<X509_STORE_CTX_free>>;

std::string text_of_address(std::span<unsigned char const> bytes)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (bytes.size() == 4 || bytes.size() == 16)
        ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
    return text;
}

std::string printable(ASN1_STRING const* value)
{
    return printable_text(
        {reinterpret_cast<char const*>(ASN1_STRING_get0_data(value)),
         static_cast<std::size_t>(ASN1_STRING_length(value))});
}

std::vector<std::string> names_in(X509 const* x509)
{
    general_names_ptr const san{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(x509, NID_subject_alt_name, nullptr, nullptr))};
    std::vector<std::string> names;
    int const count = san == nullptr ? 0 : static_cast<int>(sk_GENERAL_NAME_num(san.get()));
    for (int i = 0; i < count; ++i) {
        GENERAL_NAME const* const each = sk_GENERAL_NAME_value(
            san.get(), static_cast<decltype(sk_GENERAL_NAME_num(san.get()))>(i));
        if (each->type != GEN_DNS && each->type != GEN_IPADD)
            continue;
        auto const* const value = each->type == GEN_DNS ? each->d.dNSName : each->d.iPAddress;
        names.push_back(
            each->type == GEN_IPADD ? text_of_address(
                                          {ASN1_STRING_get0_data(value),
                                           static_cast<std::size_t>(ASN1_STRING_length(value))})
                                    : printable(value));
    }
    return names;
}

void add_urls(std::vector<std::string>& urls, GENERAL_NAMES const* names)
{
    int const count = static_cast<int>(sk_GENERAL_NAME_num(names));
    for (int i = 0; i < count; ++i) {
        GENERAL_NAME const* const each =
            sk_GENERAL_NAME_value(names, static_cast<decltype(sk_GENERAL_NAME_num(names))>(i));
        if (each->type == GEN_URI)
            urls.push_back(printable(each->d.uniformResourceIdentifier));
    }
}

std::vector<std::string> crls_of(X509 const* x509)
{
    std::unique_ptr<CRL_DIST_POINTS, freed_by<CRL_DIST_POINTS_free>> const points{
        static_cast<CRL_DIST_POINTS*>(
            X509_get_ext_d2i(x509, NID_crl_distribution_points, nullptr, nullptr))};
    std::vector<std::string> urls;
    int const count = points == nullptr ? 0 : static_cast<int>(sk_DIST_POINT_num(points.get()));
    for (int i = 0; i < count; ++i) {
        DIST_POINT_NAME const* const name =
            sk_DIST_POINT_value(
                points.get(), static_cast<decltype(sk_DIST_POINT_num(points.get()))>(i))
                ->distpoint;
        constexpr int full_name = 0; // And not one that is relative to the issuer.
        if (name != nullptr && name->type == full_name)
            add_urls(urls, name->name.fullname);
    }
    return urls;
}

std::vector<std::string> responders_of(X509 const* x509)
{
    std::unique_ptr<AUTHORITY_INFO_ACCESS, freed_by<AUTHORITY_INFO_ACCESS_free>> const places{
        static_cast<AUTHORITY_INFO_ACCESS*>(
            X509_get_ext_d2i(x509, NID_info_access, nullptr, nullptr))};
    std::vector<std::string> urls;
    int const count =
        places == nullptr ? 0 : static_cast<int>(sk_ACCESS_DESCRIPTION_num(places.get()));
    for (int i = 0; i < count; ++i) {
        ACCESS_DESCRIPTION const* const each = sk_ACCESS_DESCRIPTION_value(
            places.get(), static_cast<decltype(sk_ACCESS_DESCRIPTION_num(places.get()))>(i));
        if (OBJ_obj2nid(each->method) == NID_ad_OCSP && each->location->type == GEN_URI)
            urls.push_back(printable(each->location->d.uniformResourceIdentifier));
    }
    return urls;
}

// The contents of an extension, by its number as text: not every library has a name for each. Empty
// for none.
std::string_view extension_of(X509 const* x509, char const* number)
{
    std::unique_ptr<ASN1_OBJECT, freed_by<ASN1_OBJECT_free>> const object{OBJ_txt2obj(number, 1)};
    int const place = object == nullptr ? -1 : X509_get_ext_by_OBJ(x509, object.get(), -1);
    if (place < 0)
        return {};
    ASN1_STRING const* const value = X509_EXTENSION_get_data(X509_get_ext(x509, place));
    return {
        reinterpret_cast<char const*>(ASN1_STRING_get0_data(value)),
        static_cast<std::size_t>(ASN1_STRING_length(value))};
}

// The list of features is a SEQUENCE of numbers (RFC 7633, section 4.1).
bool must_staple(X509 const* x509)
{
    constexpr std::string_view status_request{"\x02\x01\x05", 3};
    return extension_of(x509, "1.3.6.1.5.5.7.1.24").find(status_request) != std::string_view::npos;
}

std::chrono::sys_seconds sys_time_of(ASN1_TIME const* asn1_time)
{
    return std::chrono::sys_seconds{
        std::chrono::seconds{backend::posix_time(asn1_time).value_or(0)}};
}

std::string short_name(int nid)
{
    char const* const name = OBJ_nid2sn(nid);
    return name == nullptr ? "unknown" : name;
}

void describe_key(shown_certificate& found, EVP_PKEY* key)
{
    if (key == nullptr) {
        found.key = "unknown"; // The library cannot read this kind.
        return;
    }
    found.key_bits = static_cast<unsigned>(std::max(EVP_PKEY_bits(key), 0));
    switch (int const kind = EVP_PKEY_base_id(key); kind) {
    case EVP_PKEY_RSA:
        found.key = "RSA";
        break;
    case EVP_PKEY_EC:
        found.key = "ECDSA";
        break;
    case EVP_PKEY_ED25519:
        found.key = "Ed25519";
        break;
    default:
        std::optional<key_type> const type = backend::key_type_of(key);
        found.key = type ? std::string{key_name(*type)} : short_name(kind);
    }
}

shown_certificate facts_of(X509* x509)
{
    shown_certificate found;
    auto const* const subject = X509_get_subject_name(x509);
    auto const* const issuer = X509_get_issuer_name(x509);
    found.subject = name_text(subject);
    found.issuer = name_text(issuer);
    found.self_issued = X509_NAME_cmp(subject, issuer) == 0;
    found.names = names_in(x509);
    describe_key(found, X509_get0_pubkey(x509));
    found.signature = short_name(X509_get_signature_nid(x509));
    found.from = sys_time_of(X509_get0_notBefore(x509));
    found.until = sys_time_of(X509_get0_notAfter(x509));
    found.fingerprint = certificate_fingerprint(x509);
    found.crls = crls_of(x509);
    found.responders = responders_of(x509);
    found.must_staple = must_staple(x509);
    found.has_timestamps = !extension_of(x509, "1.3.6.1.4.1.11129.2.4.2").empty();
    clear_errors(); // Errors for parts that could not be read.
    return found;
}

// The library's default path may be that of the machine on which it was built. So the bundles of
// common systems are tried, too, unless the environment names one.
void add_system_authorities(X509_STORE* store)
{
    static constexpr std::array<char const*, 4> bundles{
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    static_cast<void>(X509_STORE_set_default_paths(store));
    if (std::getenv("SSL_CERT_FILE") == nullptr && std::getenv("SSL_CERT_DIR") == nullptr)
        for (char const* each : bundles)
            if (::access(each, R_OK) == 0 && X509_STORE_load_locations(store, each, nullptr) == 1)
                break;
    clear_errors(); // Errors for paths that do not exist.
}

// The library_state must outlive the store, whose certificates belong to it.
x509_store_ptr store_of(
    backend::library_state const& library, std::string const& authorities,
    std::string const& origin)
{
    x509_store_ptr store{X509_STORE_new()};
    if (store == nullptr)
        throw std::bad_alloc{};
    if (authorities.empty()) {
        add_system_authorities(store.get());
        return store;
    }
    for (x509_ptr const& each : read_authorities(library, authorities, origin))
        if (X509_STORE_add_cert(store.get(), each.get()) != 1)
            throw spec_error{fmt::format(
                "{}: {} refuses one of the authorities: {}", origin, library_version(),
                drain_errors().reason)};
    return store;
}

bool has_name(X509* leaf, std::string const& name)
{
    int const found = is_ip_address(name)
                          ? X509_check_ip_asc(leaf, name.c_str(), 0)
                          : X509_check_host(leaf, name.data(), name.size(), 0, nullptr);
    clear_errors();
    return found == 1;
}

// The server authenticates by a certificate that today's servers have, not by a shared secret.
bool uses_certificate(std::string_view suite) noexcept
{
    constexpr std::array<std::string_view, 5> others{"PSK", "SRP", "GOST", "KRB5", "DSS"};
    return !suite.starts_with("TLS_") && !suite.starts_with("ADH") && !suite.starts_with("AECDH") &&
           std::ranges::none_of(
               others, [&](std::string_view s) { return suite.find(s) != std::string_view::npos; });
}

} // namespace

std::vector<shown_certificate> shown_chain(engine const& client)
{
    auto const* const chain = SSL_get_peer_cert_chain(client.native_handle());
    std::vector<shown_certificate> found;
    int const count = chain == nullptr ? 0 : static_cast<int>(sk_X509_num(chain));
    for (int i = 0; i < count; ++i)
        found.push_back(
            facts_of(sk_X509_value(chain, static_cast<decltype(sk_X509_num(chain))>(i))));
    return found;
}

trust verify_shown(
    engine const& client, std::string const& name, std::string const& authorities,
    std::string const& origin)
{
    auto* const chain = SSL_get_peer_cert_chain(client.native_handle());
    if (chain == nullptr || sk_X509_num(chain) == 0)
        return {false, "the server showed no certificate", false, false};
    X509* const leaf = sk_X509_value(chain, 0);
    backend::library_state const library;
    x509_store_ptr const store = store_of(library, authorities, origin);
    store_ctx_ptr const ctx{X509_STORE_CTX_new()};
    if (ctx == nullptr || X509_STORE_CTX_init(ctx.get(), store.get(), leaf, chain) != 1 ||
        X509_STORE_CTX_set_default(ctx.get(), "ssl_server") != 1)
        throw std::bad_alloc{};
    trust found;
    found.name_matches = has_name(leaf, name);
    found.verified = X509_verify_cert(ctx.get()) == 1;
    if (!found.verified) {
        int const why = X509_STORE_CTX_get_error(ctx.get());
        found.reason = X509_verify_cert_error_string(why);
        found.incomplete = why == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                           why == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
                           why == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
    }
    clear_errors();
    return found;
}

std::chrono::seconds kept_for(session const& received) noexcept
{
    if (!received.by_ticket())
        return {};
    if (received.lifetime().count() != 0 || !received.single_use())
        return received.lifetime();
    return std::chrono::seconds{SSL_SESSION_get_timeout(received.native_handle())};
}

std::string ticket_of(session const& received)
{
    unsigned char const* ticket = nullptr;
    std::size_t size = 0;
    if (received)
        SSL_SESSION_get0_ticket(received.native_handle(), &ticket, &size);
    return ticket == nullptr ? std::string{} : std::string{ticket, ticket + size};
}

session copy_of(session const& original)
{
    // Encoded and decoded: the libraries' own functions for a copy have different rules.
    SSL_SESSION* const native = original.native_handle();
    int const size = native == nullptr ? 0 : i2d_SSL_SESSION(native, nullptr);
    if (size <= 0) {
        clear_errors();
        return {};
    }
    std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
    unsigned char* out = bytes.data();
    i2d_SSL_SESSION(native, &out);
    unsigned char const* encoded = bytes.data();
    session made{d2i_SSL_SESSION(nullptr, &encoded, size)};
    OPENSSL_cleanse(bytes.data(), bytes.size()); // The session's secret is in it.
    clear_errors();
    return made;
}

std::vector<std::string> offerable_suites(protocol_version version)
{
    backend::library_state const library;
    ssl_ctx_ptr const ctx = library.new_ctx(false);
    if (ctx == nullptr)
        throw std::bad_alloc{};
    std::vector<std::string> found;
    if (version == protocol_version::tls_1_3) {
        for (char const* each :
             {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
              "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"})
            if (backend::set_ciphersuites(ctx.get(), each))
                found.emplace_back(each);
    } else {
        // COMPLEMENTOFALL: OpenSSL's suites without encryption.
        static_cast<void>(
            SSL_CTX_set_cipher_list(ctx.get(), "ALL:COMPLEMENTOFALL") == 1 ||
            SSL_CTX_set_cipher_list(ctx.get(), "ALL") == 1);
        auto const* const all = SSL_CTX_get_ciphers(ctx.get());
        for (auto i = decltype(sk_SSL_CIPHER_num(all)){0}; i < sk_SSL_CIPHER_num(all); ++i)
            if (std::string_view const name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i));
                uses_certificate(name))
                found.emplace_back(name);
    }
    clear_errors();
    return found;
}

std::vector<std::string> offerable_groups()
{
    backend::library_state const library;
    ssl_ctx_ptr const ctx = library.new_ctx(false);
    if (ctx == nullptr)
        throw std::bad_alloc{};
    std::vector<std::string> found;
    for (char const* each :
         {"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024", "X25519", "P-256", "P-384",
          "P-521", "X448"})
        if (backend::has_group(ctx.get(), each))
            found.emplace_back(each);
    return found;
}

void accept_weak(context const& client, context_spec const& spec) noexcept
{
    // OpenSSL sets the security level in its list of suites. The other libraries refuse the
    // keyword, and may have cleared the list.
    SSL_CTX* const ctx = client.native_handle();
    if (SSL_CTX_set_cipher_list(ctx, (spec.ciphers + ":@SECLEVEL=0").c_str()) != 1)
        static_cast<void>(SSL_CTX_set_cipher_list(ctx, spec.ciphers.c_str()));
    clear_errors();
}

} // namespace cleat::tls
