#include <cleat/tls/certificates/client_schemes.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::tls {
namespace {

// The messages that a scheme signs in a version of TLS.
enum class use
{
    nothing,
    certificates, // RFC 8446, section 4.2.3: PKCS #1 is left for the signatures of authorities.
    handshakes,
};

struct known_scheme
{
    backend::signature_scheme_name scheme;
    use in_tls_1_2 = use::handshakes;
    use in_tls_1_3 = use::handshakes;
    bool is_default = true;
};

// RFC 8446, section 4.2.3, in the order of preference: strong enough, then small. SHA-1 is for an
// operator who names it (RFC 9155).
constexpr std::array<known_scheme, 18> all_schemes{{
    {.scheme = {"ecdsa_secp256r1_sha256", 0x0403}},
    {.scheme = {"ed25519", 0x0807}},
    {.scheme = {"rsa_pss_rsae_sha256", 0x0804}},
    {.scheme = {"rsa_pkcs1_sha256", 0x0401}, .in_tls_1_3 = use::certificates},
    {.scheme = {"ecdsa_secp384r1_sha384", 0x0503}},
    {.scheme = {"rsa_pss_rsae_sha384", 0x0805}},
    {.scheme = {"rsa_pkcs1_sha384", 0x0501}, .in_tls_1_3 = use::certificates},
    {.scheme = {"ecdsa_secp521r1_sha512", 0x0603}},
    {.scheme = {"ed448", 0x0808}},
    {.scheme = {"rsa_pss_rsae_sha512", 0x0806}},
    {.scheme = {"rsa_pkcs1_sha512", 0x0601}, .in_tls_1_3 = use::certificates},
    {.scheme = {"rsa_pss_pss_sha256", 0x0809}},
    {.scheme = {"rsa_pss_pss_sha384", 0x080a}},
    {.scheme = {"rsa_pss_pss_sha512", 0x080b}},
    {.scheme = {"mldsa44", 0x0904}, .in_tls_1_2 = use::nothing},
    {.scheme = {"mldsa65", 0x0905}, .in_tls_1_2 = use::nothing},
    {.scheme = {"mldsa87", 0x0906}, .in_tls_1_2 = use::nothing},
    {.scheme = {"rsa_pkcs1_sha1", 0x0201}, .in_tls_1_3 = use::nothing, .is_default = false},
}};

known_scheme const& find_scheme(SSL_CTX* scratch, std::string_view name)
{
    auto const* const found =
        std::ranges::find(all_schemes, name, [](known_scheme const& s) { return s.scheme.name; });
    if (found == all_schemes.end())
        throw spec_error{fmt::format(
            "client signature schemes: \"{}\" is no scheme of RFC 8446: write names such as "
            "ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256, with colons",
            name)};
    if (!backend::can_verify(scratch, found->scheme))
        throw spec_error{fmt::format(
            "client signature schemes: {} does not verify {}: leave it out", library_version(),
            name)};
    return *found;
}

std::vector<known_scheme> chosen_schemes(SSL_CTX* scratch, std::string const& names)
{
    std::vector<known_scheme> chosen;
    if (names.empty()) {
        for (known_scheme const& each : all_schemes)
            if (each.is_default && backend::can_verify(scratch, each.scheme))
                chosen.push_back(each);
        return chosen;
    }
    for (std::size_t begin = 0; begin <= names.size();) {
        std::size_t const end = std::min(names.find(':', begin), names.size());
        known_scheme const& found =
            find_scheme(scratch, std::string_view{names}.substr(begin, end - begin));
        auto const is_same = [&](known_scheme const& s) {
            return s.scheme.number == found.scheme.number;
        };
        if (std::ranges::none_of(chosen, is_same)) // A library refuses a list with one twice.
            chosen.push_back(found);
        begin = end + 1;
    }
    return chosen;
}

std::vector<backend::signature_scheme_name> schemes_for(
    std::vector<known_scheme> const& all, use known_scheme::*version, std::string_view name)
{
    std::vector<backend::signature_scheme_name> found;
    bool has_handshakes = false;
    for (known_scheme const& each : all) {
        has_handshakes |= each.*version == use::handshakes;
        if (each.*version != use::nothing)
            found.push_back(each.scheme);
    }
    if (!has_handshakes)
        throw spec_error{fmt::format(
            "client signature schemes: none of them signs a handshake of {}: add one, such as "
            "ecdsa_secp256r1_sha256, or leave {} out of the versions",
            name, name)};
    return found;
}

} // namespace

backend::version_schemes client_schemes(SSL_CTX* scratch, context_spec const& spec)
{
    std::vector<known_scheme> const all = chosen_schemes(scratch, spec.verify_schemes);
    clear_errors();
    backend::version_schemes made;
    if (spec.version_min == protocol_version::tls_1_2)
        made.tls_1_2 = schemes_for(all, &known_scheme::in_tls_1_2, "TLSv1.2");
    if (spec.version_max == protocol_version::tls_1_3)
        made.tls_1_3 = schemes_for(all, &known_scheme::in_tls_1_3, "TLSv1.3");
    return made;
}

} // namespace cleat::tls
