#include "wire/registry.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace cleat::bench::wire {
namespace {

constexpr named_group group_rows[] = {
    {4588, "X25519MLKEM768", true, true},
    {4587, "SecP256r1MLKEM768", true, true},
    {4589, "SecP384r1MLKEM1024", true, true},
    {25497, "X25519Kyber768Draft00", true, true},
    {29, "X25519", false, true},
    {23, "P-256", false, true},
    {24, "P-384", false, true},
    {25, "P-521", false, true},
    {30, "X448", false, true},
    {25498, "SecP256r1Kyber768Draft00", true, false},
    {512, "MLKEM512", true, false},
    {513, "MLKEM768", true, false},
    {514, "MLKEM1024", true, false},
    {4590, "curveSM2MLKEM768", true, false},
    {31, "brainpoolP256r1tls13", false, false},
    {32, "brainpoolP384r1tls13", false, false},
    {33, "brainpoolP512r1tls13", false, false},
    {26, "brainpoolP256r1", false, false},
    {27, "brainpoolP384r1", false, false},
    {28, "brainpoolP512r1", false, false},
    {256, "ffdhe2048", false, false},
    {257, "ffdhe3072", false, false},
    {258, "ffdhe4096", false, false},
    {259, "ffdhe6144", false, false},
    {260, "ffdhe8192", false, false},
    {34, "GC256A", false, false},
    {35, "GC256B", false, false},
    {36, "GC256C", false, false},
    {37, "GC256D", false, false},
    {38, "GC512A", false, false},
    {39, "GC512B", false, false},
    {40, "GC512C", false, false},
    {41, "curveSM2", false, false},
    {22, "secp256k1", false, false},
    {21, "secp224r1", false, false},
    {20, "secp224k1", false, false},
    {19, "secp192r1", false, false},
    {18, "secp192k1", false, false},
    {17, "secp160r2", false, false},
    {16, "secp160r1", false, false},
    {15, "secp160k1", false, false},
    {14, "sect571r1", false, false},
    {13, "sect571k1", false, false},
    {12, "sect409r1", false, false},
    {11, "sect409k1", false, false},
    {10, "sect283r1", false, false},
    {9, "sect283k1", false, false},
    {8, "sect239k1", false, false},
    {7, "sect233r1", false, false},
    {6, "sect233k1", false, false},
    {5, "sect193r2", false, false},
    {4, "sect193r1", false, false},
    {3, "sect163r2", false, false},
    {2, "sect163r1", false, false},
    {1, "sect163k1", false, false},
};

constexpr std::uint16_t scheme_rows[] = {
    0x0403, 0x0503, 0x0603, // ECDSA with SHA-256, SHA-384, SHA-512.
    0x0807, 0x0808,         // Ed25519, Ed448.
    0x0804, 0x0805, 0x0806, // RSA-PSS with keys for PKCS #1.
    0x0809, 0x080a, 0x080b, // RSA-PSS with keys for PSS.
    0x081a, 0x081b, 0x081c, // Brainpool curves.
    0x0904, 0x0905, 0x0906, // ML-DSA.
    0x0401, 0x0501, 0x0601, // RSA.
    0x0708,                 // SM2.
    0x0402, 0x0502, 0x0602, // DSA.
    0x0303, 0x0301, 0x0302, // SHA-224.
    0x0203, 0x0201, 0x0202, // SHA-1.
    0x0101,                 // RSA with MD5.
};

bool names_any(std::string_view text, std::initializer_list<std::string_view> parts) noexcept
{
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

} // namespace

std::string_view name_of(version v) noexcept
{
    switch (v) {
    case version::ssl_3_0:
        return "SSL 3.0";
    case version::tls_1_0:
        return "TLS 1.0";
    case version::tls_1_1:
        return "TLS 1.1";
    case version::tls_1_2:
        return "TLS 1.2";
    case version::tls_1_3:
        break;
    }
    return "TLS 1.3";
}

std::span<cipher_suite const> cipher_suites() noexcept
{
    return suite_table();
}

cipher_suite const* find_suite(std::uint16_t number) noexcept
{
    std::span<cipher_suite const> const all = cipher_suites();
    auto const found = std::ranges::lower_bound(all, number, {}, &cipher_suite::number);
    return found != all.end() && found->number == number ? &*found : nullptr;
}

cipher_suite const* find_suite(std::string_view name) noexcept
{
    std::span<cipher_suite const> const all = cipher_suites();
    auto const found = std::ranges::find_if(
        all, [&](cipher_suite const& each) { return each.iana == name || each.openssl == name; });
    return found != all.end() && !name.empty() ? &*found : nullptr;
}

suite_traits traits_of(cipher_suite const& suite) noexcept
{
    std::string_view const name = suite.iana;
    suite_traits found;
    // The names of TLS 1.3 do not say WITH, but for the integrity-only and the GOST suites.
    found.tls_1_3 = !names_any(name, {"_WITH_"}) || names_any(name, {"_MGM_"});
    found.null_encryption = names_any(name, {"WITH_NULL", "TLS_SHA256_", "TLS_SHA384_"});
    found.anonymous = names_any(name, {"_anon_", "TLS_NULL_WITH"});
    found.export_grade = names_any(name, {"EXPORT"});
    found.dhe = names_any(name, {"TLS_DHE_", "TLS_DH_anon_", "TLS_PSK_DHE_"});
    found.ecdhe = names_any(name, {"TLS_ECDHE_", "TLS_ECDH_anon_"});
    found.psk = names_any(name, {"PSK"});
    found.ecdsa = names_any(name, {"_ECDSA_"});
    found.rsa_key_exchange = names_any(name, {"TLS_RSA_"}) && !found.psk;
    found.forward_secret = found.tls_1_3 || found.dhe || found.ecdhe ||
                           names_any(name, {"CECPQ1", "ECCPWD", "TLS_SRP_"});
    found.aead = names_any(name, {"_GCM", "_CCM", "POLY1305", "_MGM_", "AEGIS"});
    found.cbc = names_any(name, {"_CBC_", "RC2_56"});
    found.rc4 = names_any(name, {"_RC4_"});
    found.triple_des = names_any(name, {"_3DES_"});
    found.block_64 = names_any(name, {"DES_", "DES40_", "IDEA", "RC2", "28147", "MAGMA"});
    return found;
}

std::span<named_group const> named_groups() noexcept
{
    return group_rows;
}

named_group const* find_group(std::uint16_t number) noexcept
{
    auto const* const found = std::ranges::find(group_rows, number, &named_group::number);
    return found == std::ranges::end(group_rows) ? nullptr : found;
}

named_group const* find_group(std::string_view name) noexcept
{
    auto const* const found = std::ranges::find(group_rows, name, &named_group::name);
    return found == std::ranges::end(group_rows) ? nullptr : found;
}

std::span<std::uint16_t const> signature_schemes() noexcept
{
    return scheme_rows;
}

} // namespace cleat::bench::wire
