#include "limits/sip_hash.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace cleat::app::sip_hash_test {
namespace {

std::array<std::uint8_t, 16> counting()
{
    std::array<std::uint8_t, 16> made{};
    for (std::uint8_t i = 0; i < made.size(); ++i)
        made[i] = i;
    return made;
}

TEST_CASE("the hash is SipHash-2-4")
{
    // The authors' test vector for 16 bytes: key and message count from 0.
    sip_key const key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
    CHECK(sip_hash(key, counting()) == 0x3f2acc7f57c29bdb);
}

TEST_CASE("two keys are never the same")
{
    CHECK(sip_hash(new_sip_key(), counting()) != sip_hash(new_sip_key(), counting()));
}

} // namespace
} // namespace cleat::app::sip_hash_test
