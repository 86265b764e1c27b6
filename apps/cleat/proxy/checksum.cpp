#include "proxy/proxy_protocol.hpp"

#include <array>

namespace cleat::app {
namespace {

constexpr std::array<std::uint32_t, 256> crc32c_table = [] {
    constexpr std::uint32_t polynomial = 0x82f63b78; // Castagnoli's, its bits in reverse
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t rest = i;
        for (int bit = 0; bit < 8; ++bit)
            rest = rest & 1 ? rest >> 1 ^ polynomial : rest >> 1;
        table[i] = rest;
    }
    return table;
}();

} // namespace

std::uint32_t crc32c(std::span<std::uint8_t const> bytes) noexcept
{
    std::uint32_t sum = 0xffff'ffff;
    for (std::uint8_t const byte : bytes)
        sum = sum >> 8 ^ crc32c_table[(sum ^ byte) & 0xff];
    return ~sum;
}

} // namespace cleat::app
