#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>
#include <cleat/tls/hello/message_reader.hpp>
#include <cleat/tls/hello/offers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

struct numbered_name
{
    std::size_t number;
    std::string_view name;
};

constexpr std::array<numbered_name, 5> versions{
    {{0x300, "SSLv3"},
     {0x301, "TLSv1"},
     {0x302, "TLSv1.1"},
     {0x303, "TLSv1.2"},
     {0x304, "TLSv1.3"}}};

// As ecdh-curve has them, else of the registry "TLS Supported Groups".
constexpr std::array<numbered_name, 15> groups{
    {{19, "secp192r1"},
     {21, "P-224"},
     {22, "secp256k1"},
     {23, "P-256"},
     {24, "P-384"},
     {25, "P-521"},
     {26, "brainpoolP256r1"},
     {29, "X25519"},
     {30, "X448"},
     {256, "ffdhe2048"},
     {257, "ffdhe3072"},
     {4587, "SecP256r1MLKEM768"},
     {4588, "X25519MLKEM768"},
     {4589, "SecP384r1MLKEM1024"},
     {25497, "X25519Kyber768Draft00"}}};

std::string_view name_in(std::span<numbered_name const> names, std::size_t number) noexcept
{
    auto const found = std::ranges::find(names, number, &numbered_name::number);
    return found == names.end() ? std::string_view{} : found->name;
}

// The numbers of two bytes in a list. name_of is empty where a number has no name.
template <class NameOf>
std::string list_of(octets numbers, NameOf name_of)
{
    std::string text;
    std::size_t count = 0;
    message_reader reader{numbers};
    while (!reader.is_empty() && reader.is_whole()) {
        std::size_t const number = reader.number(2);
        if (!reader.is_whole() || is_grease(number) || ++count > limits::logged_offers_max)
            continue;
        std::string_view const name = name_of(number);
        text.append(text.empty() ? "" : ",");
        text.append(name.empty() ? fmt::format("0x{:04x}", number) : std::string{name});
    }
    if (count > limits::logged_offers_max)
        text.append(fmt::format(" and {} more", count - limits::logged_offers_max));
    return text;
}

octets body_of(hello_parts const& parts, extension wanted, std::size_t length_size) noexcept
{
    octets list;
    static_cast<void>(for_each_extension(parts.extensions, [&](std::size_t number, octets body) {
        if (number == static_cast<std::size_t>(wanted))
            list = message_reader{body}.vector(length_size);
        return true;
    }));
    return list;
}

// A client without supported_versions offers all versions up to that of the message (RFC 8446,
// section 4.2.1): which ones is not known.
std::string versions_of(hello_parts const& parts)
{
    auto const name = [](std::size_t number) { return name_in(versions, number); };
    if (octets const list = body_of(parts, extension::supported_versions, 1); !list.empty())
        return list_of(list, name);
    std::array<std::uint8_t, 2> const highest{
        static_cast<std::uint8_t>(parts.version >> 8U), static_cast<std::uint8_t>(parts.version)};
    return "up to " + list_of(highest, name);
}

// No suites, but they say how the client came: TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746) and
// TLS_FALLBACK_SCSV (RFC 7507).
std::string_view offered_suite(ssl_st* ssl, std::size_t number) noexcept
{
    switch (number) {
    case 0x00ff:
        return "TLS_EMPTY_RENEGOTIATION_INFO_SCSV";
    case 0x5600:
        return "TLS_FALLBACK_SCSV";
    default:
        return backend::suite_name(ssl, static_cast<std::uint16_t>(number));
    }
}

} // namespace

client_offers offers_in(std::span<std::byte const> records, error_code why, ssl_st* ssl)
{
    bool const by_cipher = why == error::no_shared_cipher;
    if (!by_cipher && why != error::no_shared_version && why != error::no_shared_group)
        return {};
    client_hello_reader reader;
    octets const bytes{reinterpret_cast<std::uint8_t const*>(records.data()), records.size()};
    if (reader.read(bytes) != client_hello_reader::status::complete)
        return {};
    hello_parts const parts = hello_parts_of(reader.message());
    if (why == error::no_shared_version)
        return {.versions = versions_of(parts)};
    // In TLS 1.2 a group is part of the choice of a cipher suite.
    client_offers found{
        .groups = list_of(body_of(parts, extension::supported_groups, 2), [](std::size_t number) {
            return name_in(groups, number);
        })};
    if (by_cipher)
        found.ciphers = list_of(
            parts.cipher_suites, [&](std::size_t number) { return offered_suite(ssl, number); });
    return found;
}

} // namespace cleat::tls
