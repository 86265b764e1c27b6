#include "wire/rsa_public.hpp"

#include <doctest/doctest.h>

#include <random>

namespace cleat::bench::wire::rsa_public_test {
namespace {

// A self-signed certificate with a key of 1,024 bits.
constexpr std::string_view rsa_certificate =
    "308201f43082015da003020102021445eaa04f41a0513136497fa5a5ecc24c4b56dc68300d06092a864886f7"
    "0d01010b0500300c310a300806035504030c0172301e170d3236313132363233333332345a170d3236313232"
    "363233333332345a300c310a300806035504030c017230819f300d06092a864886f70d010101050003818d00"
    "30818902818100b8c3139479a4462c332d553fdaacb661dfa65cae8fd9baf7e58d065fae9b53b72493d5f4af"
    "91497e6600954b576efdea636827a12a6124361b3e255ed9009faed24f7732840d696a9d3577259efffec0fc"
    "65e1c6921876f01897575fbb6c687338a370692058a2c2a6c5eb757ddf65be4e5784915c1e8d3fafd14ed36e"
    "8576df0203010001a3533051301d0603551d0e04160414445301d9f02b1628920979dcd9de5ad81b427e0230"
    "1f0603551d23041830168014445301d9f02b1628920979dcd9de5ad81b427e02300f0603551d130101ff0405"
    "30030101ff300d06092a864886f70d01010b050003818100576e9c865da59405971188bb834b0cdfa2850ac8"
    "06b74db4f810224111d6cf4eb32edf58decbd4385af8ae16aacd40d1961ffe0a08a762516329c1bff984dbf7"
    "4aad9066c01b9ddd7c5eb04b99b8975cdfb4b1b0f7bed58b276ac3840ac3ce90f9baf8aa054a8313c45dcb08"
    "2a696adaa5edec0ec2680c061f7a0b80511b562d";

// The block 0x00 0x02 0x01 0x02 ... 0x7e, encrypted by another program.
constexpr std::string_view encrypted_block =
    "204d9f186fb4aff151ebf8e8bb58945607854c3fee8f45ae922c29c322e28ccc921f98bd61160e138f1f92a8"
    "34a70ac8d6ef19e47e8f3e0f37bbb88b2bce35977924ec0b1d1cbc7eb97bfbc62bf4dce5960ed597a8b53163"
    "10f841ea175acaa8f0d6690ba3146f5353405373483a8cbe629ff029b277daeee2298391d2f6b689";

std::string from_hex(std::string_view hex)
{
    std::string made;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        made.push_back(static_cast<char>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16)));
    return made;
}

TEST_CASE("a block is encrypted with the key of a certificate")
{
    auto const key = rsa_key_of(from_hex(rsa_certificate));
    REQUIRE(key);
    CHECK(key->modulus.size() == 128);
    CHECK(key->exponent == 65537);
    std::string block{"\0\2", 2};
    for (int i = 1; i < 127; ++i)
        block.push_back(static_cast<char>(i));
    CHECK(raw_rsa(*key, block) == from_hex(encrypted_block));
    CHECK(raw_rsa(*key, std::string(128, '\0')) == std::string(128, '\0'));
    CHECK(raw_rsa({"\x0b", 3}, "\x07") == "\x02"); // 7 * 7 * 7 = 343 = 31 * 11 + 2.
}

TEST_CASE("bytes that are no certificate have no key")
{
    std::string const good = from_hex(rsa_certificate);
    for (std::size_t size = 0; size < 300; ++size)
        CHECK_FALSE(rsa_key_of(std::string_view{good}.substr(0, size)));
    std::mt19937 random{1};
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes = good;
        for (int k = 0; k < 4; ++k)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        auto const key = rsa_key_of(bytes);
        CHECK((!key || key->modulus.size() <= bytes.size()));
    }
}

} // namespace
} // namespace cleat::bench::wire::rsa_public_test
