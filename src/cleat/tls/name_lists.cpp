#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/name_lists.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cleat::tls {
namespace {

std::vector<std::string> split(std::string_view list, std::string_view separators)
{
    std::vector<std::string> names;
    while (!list.empty()) {
        std::size_t const end = std::min(list.find_first_of(separators), list.size());
        if (end > 0)
            names.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return names;
}

template <class Known, std::size_t N>
std::string known_among(std::array<char const*, N> const& candidates, Known is_known)
{
    std::vector<std::string_view> known;
    for (char const* each : candidates)
        if (is_known(std::string{each}))
            known.emplace_back(each);
    return fmt::format("{}", fmt::join(known, ", "));
}

bool accepts_ciphers(SSL_CTX* scratch, std::string const& list)
{
    bool const accepted = SSL_CTX_set_cipher_list(scratch, list.c_str()) == 1;
    clear_errors();
    return accepted;
}

bool accepts_ciphersuites(SSL_CTX* scratch, std::string const& list)
{
    bool const accepted = backend::set_ciphersuites(scratch, list);
    clear_errors();
    return accepted;
}

std::string known_ciphers(SSL_CTX* scratch)
{
    std::vector<std::string_view> names;
    if (accepts_ciphers(scratch, "ALL")) {
        auto const* const all = SSL_CTX_get_ciphers(scratch);
        for (auto i = decltype(sk_SSL_CIPHER_num(all)){0}; i < sk_SSL_CIPHER_num(all); ++i) {
            std::string_view const name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i));
            if (name.starts_with("ECDHE-"))
                names.push_back(name);
        }
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

// Keywords that lists often exclude, and that today's libraries may not have: then there is nothing
// to exclude.
constexpr std::array obsolete_keywords{
    "aNULL",
    "eNULL",
    "NULL",
    "COMPLEMENTOFDEFAULT",
    "COMPLEMENTOFALL",
    "LOW",
    "EXP",
    "EXPORT",
    "EXPORT40",
    "EXPORT56",
    "SSLv2",
    "SSLv3",
    "TLSv1",
    "DES",
    "3DES",
    "RC2",
    "RC4",
    "MD5",
    "IDEA",
    "SEED",
    "CAMELLIA",
    "ARIA",
    "GOST94",
    "GOST89MAC",
    "aGOST",
    "kGOST",
    "KRB5",
    "kKRB5",
    "aKRB5",
    "PSK",
    "kPSK",
    "aPSK",
    "SRP",
    "kSRP",
    "aSRP",
    "DSS",
    "aDSS",
    "DH",
    "aDH",
    "kDH",
    "kDHr",
    "kDHd",
    "kEDH",
    "kDHE",
    "EDH",
    "DHE",
    "ADH",
    "AECDH",
    "aECDH",
    "kECDH",
    "kECDHr",
    "kECDHe",
    "AESCCM",
    "AESCCM8",
    "FZA",
    "kFZA",
    "aFZA",
    "eFZA"};

bool is_obsolete(std::string_view keyword) noexcept
{
    return std::ranges::find(obsolete_keywords, keyword) != obsolete_keywords.end();
}

// known: the token selects a suite of the library, or is a command ("@STRENGTH").
bool known(SSL_CTX* scratch, std::string_view token)
{
    if (token.starts_with('@'))
        return true; // The library itself refuses unknown commands.
    bool const excludes = token.starts_with('!') || token.starts_with('-');
    if (excludes || token.starts_with('+'))
        token.remove_prefix(1);
    if (accepts_ciphers(scratch, std::string{token}))
        return true;
    // Excluding an unknown combination ("kEDH+aDSS") or suite has no effect.
    return excludes && (is_obsolete(token) || token.find_first_of("+-") != std::string_view::npos);
}

// TLS 1.3 suites have names of their own, and belong to the other list.
bool is_tls_1_3(std::string_view token) noexcept
{
    return token.starts_with("TLS_");
}

} // namespace

std::string usable_groups(SSL_CTX* scratch, std::string const& names)
{
    constexpr std::array well_known{
        "X25519MLKEM768",
        "SecP256r1MLKEM768",
        "SecP384r1MLKEM1024",
        "X25519",
        "P-256",
        "P-384",
        "P-521",
        "X448"};
    std::vector<std::string> usable;
    for (std::string const& each : split(names, ":")) {
        bool const optional = each.starts_with('?');
        std::string const name = each.substr(optional ? 1 : 0);
        if (backend::has_group(scratch, name))
            usable.push_back(name);
        else if (!optional)
            throw spec_error{fmt::format(
                "groups: {} has no key exchange group \"{}\"; it has {}. A name after '?' is left "
                "out where the library does not have it",
                library_version(), name, known_among(well_known, [&](std::string const& candidate) {
                    return backend::has_group(scratch, candidate);
                }))};
    }
    if (usable.empty())
        throw spec_error{fmt::format(
            "groups: nothing in \"{}\" is a key exchange group of {}: give X25519:P-256", names,
            library_version())};
    return fmt::format("{}", fmt::join(usable, ":"));
}

void check_ciphers(SSL_CTX* scratch, std::string const& list, std::vector<std::string>& warnings)
{
    std::vector<std::string> unknown;
    for (std::string const& token :
         split(list, ":, ;[|]")) // Brackets and bars: BoringSSL's groups.
        if (!known(scratch, token))
            unknown.push_back(token);
    if (!accepts_ciphers(scratch, list))
        throw spec_error{fmt::format(
            "ciphers: \"{}\" leaves no TLS 1.2 cipher suite of {}{}; it has {}", list,
            library_version(),
            unknown.empty() ? ""
                            : fmt::format(", which does not know {}", fmt::join(unknown, ", ")),
            known_ciphers(scratch))};
    for (std::string const& token : unknown)
        warnings.push_back(fmt::format(
            "ciphers: {} has no TLS 1.2 suite {}, which changes nothing: {}", library_version(),
            token,
            is_tls_1_3(token) ? "suites of TLS 1.3 are named in ciphersuites"
                              : "correct it, or take it out of the list"));
}

void check_ciphersuites(SSL_CTX* scratch, std::string const& list)
{
    constexpr std::array well_known{
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"};
    auto const is_known = [&](std::string const& name) {
        return accepts_ciphersuites(scratch, name);
    };
    for (std::string const& name : split(list, ":"))
        if (!is_known(name))
            throw spec_error{fmt::format(
                "ciphersuites: {} has no TLS 1.3 cipher suite \"{}\"; it has {}", library_version(),
                name, known_among(well_known, is_known))};
    if (!list.empty() && !is_known(list))
        throw spec_error{
            fmt::format("ciphersuites: {} does not take the list \"{}\"", library_version(), list)};
}

} // namespace cleat::tls
