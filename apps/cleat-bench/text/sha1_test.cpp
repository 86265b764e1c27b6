// The examples of the standards.

#include "text/sha1.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace cleat::bench::sha1_test {
namespace {

std::string hex_of(std::string_view text)
{
    std::string hex;
    for (std::byte const each : sha1(text))
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return hex;
}

TEST_CASE("SHA-1 of texts of several lengths")
{
    CHECK(hex_of("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK(hex_of("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    CHECK(
        hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    CHECK(hex_of(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST_CASE("Base64 of texts of several lengths")
{
    auto const encoded = [](std::string_view text) {
        return base64(std::as_bytes(std::span{text}));
    };
    CHECK(encoded("").empty());
    CHECK(encoded("f") == "Zg==");
    CHECK(encoded("fo") == "Zm8=");
    CHECK(encoded("foo") == "Zm9v");
    CHECK(encoded("foobar") == "Zm9vYmFy");
    CHECK(encoded("\xff\xfe\xfd") == "//79");
}

} // namespace
} // namespace cleat::bench::sha1_test
