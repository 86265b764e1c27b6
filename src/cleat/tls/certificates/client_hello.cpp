#include <cleat/tls/certificates/client_hello.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cleat::tls {
namespace {

constexpr std::uint16_t version_1_3 = 0x0304;

constexpr std::uint16_t number_at(octets bytes, std::size_t offset) noexcept
{
    return static_cast<std::uint16_t>(bytes[offset] << 8 | bytes[offset + 1]);
}

bool contains(octets numbers, std::uint16_t wanted) noexcept
{
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
        if (number_at(numbers, i) == wanted)
            return true;
    return false;
}

// The vector in an extension's body after a length of two bytes; empty if the length is wrong.
octets vector16(octets body) noexcept
{
    if (body.size() < 2 || number_at(body, 0) != body.size() - 2)
        return {};
    return body.subspan(2);
}

octets vector8(octets body) noexcept
{
    if (body.empty() || body[0] != body.size() - 1)
        return {};
    return body.subspan(1);
}

// Numbers of RFC 8446, sections 4.2.3 and 4.2.7, and of draft-ietf-tls-mldsa.
struct key_numbers
{
    std::uint16_t scheme;
    std::uint16_t group; // 0: no curve of supported_groups.
};

constexpr key_numbers numbers_of(key_type key) noexcept
{
    switch (key) {
    case key_type::ml_dsa_44:
        return {0x0904, 0};
    case key_type::ml_dsa_65:
        return {0x0905, 0};
    case key_type::ml_dsa_87:
        return {0x0906, 0};
    case key_type::ecdsa_p256:
        return {0x0403, 23};
    case key_type::ecdsa_p384:
        return {0x0503, 24};
    case key_type::ecdsa_p521:
        return {0x0603, 25};
    case key_type::ed25519:
        return {0x0807, 0};
    case key_type::rsa:
        break;
    }
    return {0, 0};
}

// In TLS 1.2 a scheme names a hash and ECDSA, with any curve. SHA-1 is not used here.
bool has_scheme_1_2(octets schemes, key_type key) noexcept
{
    if (is_ml_dsa(key))
        return false;
    if (key == key_type::ed25519)
        return contains(schemes, numbers_of(key).scheme);
    constexpr std::array<key_type, 3> ecdsa{
        key_type::ecdsa_p256, key_type::ecdsa_p384, key_type::ecdsa_p521};
    return std::any_of(ecdsa.begin(), ecdsa.end(), [&](key_type each) {
        return contains(schemes, numbers_of(each).scheme);
    });
}

} // namespace

std::string_view server_name_in(octets body) noexcept
{
    constexpr std::size_t head = 3; // Type of name, length.
    octets const list = vector16(body);
    if (list.size() < head || list[0] != 0 || number_at(list, 1) != list.size() - head)
        return {};
    octets const name = list.subspan(head);
    return {reinterpret_cast<char const*>(name.data()), name.size()};
}

bool can_use(client_offer const& offer, server_side const& server, key_type key) noexcept
{
    if (key == key_type::rsa)
        return true;
    key_numbers const wanted = numbers_of(key);
    octets const schemes = vector16(offer.signature_algorithms);
    if (server.tls_1_3 && contains(vector8(offer.supported_versions), version_1_3))
        return contains(schemes, wanted.scheme);
    if (!server.tls_1_2 || !has_scheme_1_2(schemes, key))
        return false;

    // RFC 8422, section 5.1: without the extension any curve will do.
    octets const groups = vector16(offer.supported_groups);
    if (wanted.group != 0 && !groups.empty() && !contains(groups, wanted.group))
        return false;
    return std::any_of(
        server.ecdsa_suites.begin(), server.ecdsa_suites.end(),
        [&](std::uint16_t suite) { return contains(offer.cipher_suites, suite); });
}

} // namespace cleat::tls
