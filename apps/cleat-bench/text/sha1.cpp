#include "text/sha1.hpp"

#include <bit>
#include <cstdint>
#include <utility>

namespace cleat::bench {
namespace {

constexpr std::size_t block_size = 64;

using state = std::array<std::uint32_t, 5>;

// FIPS 180-4, section 6.1.2.
void add_block(state& sum, std::string_view block)
{
    std::array<std::uint32_t, 80> words{};
    for (std::size_t i = 0; i != block_size; ++i)
        words[i / 4] = words[i / 4] << 8U | static_cast<unsigned char>(block[i]);
    for (std::size_t i = 16; i != words.size(); ++i)
        words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    auto [a, b, c, d, e] = sum;
    for (std::size_t i = 0; i != words.size(); ++i) {
        std::uint32_t const mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999U
                                    : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1U
                                    : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCU
                                             : (b ^ c ^ d) + 0xCA62C1D6U;
        std::uint32_t const next = std::rotl(a, 5) + mixed + e + words[i];
        e = std::exchange(d, std::exchange(c, std::rotl(std::exchange(b, a), 30)));
        a = next;
    }
    state const more{a, b, c, d, e};
    for (std::size_t i = 0; i != sum.size(); ++i)
        sum[i] += more[i];
}

} // namespace

std::array<std::byte, 20> sha1(std::string_view text)
{
    std::string padded{text};
    padded += '\x80';
    padded.resize((padded.size() + 8 + block_size - 1) / block_size * block_size - 8);
    std::uint64_t const bits = std::uint64_t{text.size()} * 8;
    for (unsigned i = 0; i != 8; ++i)
        padded += static_cast<char>(bits >> (56U - 8U * i));
    state sum{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    for (std::size_t begin = 0; begin != padded.size(); begin += block_size)
        add_block(sum, std::string_view{padded}.substr(begin, block_size));
    std::array<std::byte, 20> digest{};
    for (std::size_t i = 0; i != digest.size(); ++i)
        digest[i] = static_cast<std::byte>(sum[i / 4] >> (24U - 8U * (i % 4)));
    return digest;
}

std::string base64(std::span<std::byte const> bytes)
{
    static constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::size_t const count = bytes.size() - i < 3 ? bytes.size() - i : 3;
        std::uint32_t three = 0;
        for (std::size_t k = 0; k != 3; ++k)
            three = three << 8U | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
        for (std::size_t k = 0; k != 4; ++k)
            text += k <= count ? digits[three >> (18U - 6U * k) & 0x3FU] : '=';
    }
    return text;
}

} // namespace cleat::bench
