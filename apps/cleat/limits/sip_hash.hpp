// sip_hash: SipHash-2-4 (Aumasson and Bernstein, 2012) of 16 bytes: without the key nobody can find
// values with the same hash.

#pragma once

#include <array>
#include <cstdint>

namespace cleat::app {

/// sip_key is a secret of the process.
struct sip_key
{
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

/// new_sip_key is random. Throws std::system_error without getrandom(2).
[[nodiscard]] sip_key new_sip_key();

[[nodiscard]] std::uint64_t sip_hash(
    sip_key const& key, std::array<std::uint8_t, 16> const& bytes) noexcept;

} // namespace cleat::app
