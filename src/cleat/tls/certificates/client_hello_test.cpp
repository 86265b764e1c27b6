#include <cleat/tls/certificates/client_hello.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace cleat::tls::client_hello_test {
namespace {

using byte_list = std::vector<std::uint8_t>;

byte_list numbers(std::vector<std::uint16_t> const& values)
{
    byte_list out;
    for (std::uint16_t const n : values) {
        out.push_back(static_cast<std::uint8_t>(n >> 8));
        out.push_back(static_cast<std::uint8_t>(n));
    }
    return out;
}

byte_list with_length16(byte_list body)
{
    std::size_t const n = body.size();
    body.insert(body.begin(), {static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)});
    return body;
}

byte_list with_length8(byte_list body)
{
    body.insert(body.begin(), static_cast<std::uint8_t>(body.size()));
    return body;
}

byte_list server_name(std::string const& name)
{
    byte_list const host = with_length16(byte_list(name.begin(), name.end()));
    byte_list list{0};
    list.insert(list.end(), host.begin(), host.end());
    return with_length16(list);
}

constexpr std::uint16_t ecdhe_ecdsa_aes128 = 0xc02b;
constexpr std::uint16_t ecdhe_rsa_aes128 = 0xc02f;
constexpr std::array<std::uint16_t, 1> ecdsa_suites{ecdhe_ecdsa_aes128};
constexpr server_side any_version{true, true, ecdsa_suites};

struct hello
{
    byte_list suites = numbers({ecdhe_rsa_aes128, ecdhe_ecdsa_aes128});
    byte_list schemes = with_length16(numbers({0x0403, 0x0804}));
    byte_list groups = with_length16(numbers({29, 23}));
    byte_list versions;

    [[nodiscard]] client_offer offer() const { return {suites, schemes, groups, versions}; }
};

TEST_CASE("a server name is read only from a body that is well formed to the last byte")
{
    byte_list const whole = server_name("www.example.com");
    CHECK(server_name_in(whole) == "www.example.com");
    for (std::size_t n = 0; n < whole.size(); ++n)
        CHECK(server_name_in(octets{whole}.first(n)).empty());
    byte_list longer = whole;
    longer.push_back(0);
    CHECK(server_name_in(longer).empty());
    byte_list other_type = whole;
    other_type[2] = 1;
    CHECK(server_name_in(other_type).empty());
}

TEST_CASE("a TLS 1.2 client gets ECDSA when suite, scheme and curve are all there")
{
    hello client;
    CHECK(can_use(client.offer(), any_version, key_type::ecdsa_p256));
    CHECK(!can_use(client.offer(), any_version, key_type::ecdsa_p384)); // Not among its curves.
    client.groups.clear();
    CHECK(can_use(client.offer(), any_version, key_type::ecdsa_p384)); // Any hash with any curve.

    SUBCASE("no ECDSA suite")
    {
        client.suites = numbers({ecdhe_rsa_aes128});
    }
    SUBCASE("no ECDSA scheme")
    {
        client.schemes = with_length16(numbers({0x0804, 0x0401}));
    }
    SUBCASE("no schemes at all, which means SHA-1")
    {
        client.schemes.clear();
    }
    SUBCASE("schemes cut short")
    {
        client.schemes.pop_back();
    }
    CHECK(!can_use(client.offer(), any_version, key_type::ecdsa_p256));
    CHECK(can_use(client.offer(), any_version, key_type::rsa));
}

TEST_CASE("in TLS 1.3 the scheme names the curve, and suites and groups say nothing")
{
    hello client;
    client.versions = with_length8(numbers({0x0304, 0x0303}));
    client.suites = numbers({0x1301});
    client.groups = with_length16(numbers({29}));
    CHECK(can_use(client.offer(), any_version, key_type::ecdsa_p256));
    CHECK(!can_use(client.offer(), any_version, key_type::ecdsa_p384));
    CHECK(!can_use(client.offer(), any_version, key_type::ed25519));
    client.schemes = with_length16(numbers({0x0807}));
    CHECK(can_use(client.offer(), any_version, key_type::ed25519));
    CHECK(!can_use(client.offer(), any_version, key_type::ecdsa_p256));
}

TEST_CASE("ML-DSA is for clients of TLS 1.3 that name its scheme")
{
    hello client;
    client.versions = with_length8(numbers({0x0304, 0x0303}));
    client.schemes = with_length16(numbers({0x0905, 0x0403}));
    CHECK(can_use(client.offer(), any_version, key_type::ml_dsa_65));
    CHECK(!can_use(client.offer(), any_version, key_type::ml_dsa_44));
    CHECK(!can_use(client.offer(), any_version, key_type::ml_dsa_87));
    client.versions = with_length8(numbers({0x0303}));
    CHECK(!can_use(client.offer(), any_version, key_type::ml_dsa_65));
    CHECK(can_use(client.offer(), any_version, key_type::ecdsa_p256));
}

TEST_CASE("the version that both will use decides, not the best that the client knows")
{
    hello client;
    client.versions = with_length8(numbers({0x0304, 0x0303}));
    client.suites = numbers({ecdhe_rsa_aes128});
    CHECK(can_use(client.offer(), any_version, key_type::ecdsa_p256));
    CHECK(!can_use(client.offer(), {false, true, ecdsa_suites}, key_type::ecdsa_p256));
    CHECK(!can_use(hello{}.offer(), {true, false, ecdsa_suites}, key_type::ecdsa_p256));
}

} // namespace
} // namespace cleat::tls::client_hello_test
