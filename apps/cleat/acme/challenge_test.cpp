// The ClientHello alone makes a challenge, and its name becomes the name of a file.

#include "acme/challenge.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app::challenge_test {
namespace {

// A list of protocols as a ClientHello has it.
std::vector<std::uint8_t> list(std::vector<std::string_view> const& protocols)
{
    std::vector<std::uint8_t> bytes;
    for (std::string_view const each : protocols) {
        bytes.push_back(static_cast<std::uint8_t>(each.size()));
        bytes.insert(bytes.end(), each.begin(), each.end());
    }
    return bytes;
}

bool is_challenge_of(std::string_view name, std::vector<std::string_view> const& protocols)
{
    std::vector<std::uint8_t> const bytes = list(protocols);
    return is_challenge({.server_name = name, .protocols = bytes});
}

TEST_CASE("a challenge offers acme-tls/1 alone, and names a host")
{
    CHECK(is_challenge_of("www.example.org", {"acme-tls/1"}));
    CHECK(is_challenge_of("WWW.example.org", {"acme-tls/1"}));
    CHECK_FALSE(is_challenge_of("www.example.org", {}));
    CHECK_FALSE(is_challenge_of("www.example.org", {"h2"}));
    CHECK_FALSE(is_challenge_of("www.example.org", {"acme-tls/2"}));
    CHECK_FALSE(is_challenge_of("www.example.org", {"acme-tls/1", "h2"}));
    CHECK_FALSE(is_challenge_of("www.example.org", {"h2", "acme-tls/1"}));
}

TEST_CASE("a name that is no host's is no challenge's, so that no path can be made of it")
{
    for (std::string_view const name :
         {"", "*.example.org", "../secret", "a/b", "..", ".", "a..b", "-\n", "a b"})
        CHECK_FALSE(is_challenge_of(name, {"acme-tls/1"}));
}

TEST_CASE("files have the name in lower case, without the root's dot")
{
    std::vector<tls::certificate_paths> const found = challenge_files("/acme", "WWW.Example.org.");
    REQUIRE(found.size() == 2);
    CHECK(found[0].chain == "/acme/www.example.org.crt.pem");
    CHECK(found[0].private_key == "/acme/www.example.org.key.pem");
    CHECK(found[1].chain == "/acme/www.example.org.pem");
    CHECK(found[1].private_key.empty());
}

} // namespace
} // namespace cleat::app::challenge_test
