#include "tickets/secret_text.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>

namespace cleat::app::secret_text_test {
namespace {

constexpr std::string_view hex = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
constexpr std::string_view base64 = "ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=";
constexpr std::string_view other =
    "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

std::string one_fault(std::string_view text)
{
    secret_list const list = read_ticket_secrets(text);
    REQUIRE(list.faults.size() == 1);
    CHECK(!list.faults[0].cure.empty());
    return fmt::format("{}: {}", list.faults[0].line, list.faults[0].text);
}

TEST_CASE("hexadecimal digits and base64 are the same bytes")
{
    for (std::string const& text :
         {fmt::format("{}", hex), fmt::format("{}\n", hex), fmt::format("{}\n", base64),
          fmt::format("{}\r\n", base64.substr(0, 43)),
          fmt::format("\n# of November\n  {}\t\n# end", hex)}) {
        secret_list const list = read_ticket_secrets(text);
        CHECK(list.faults.empty());
        REQUIRE(list.secrets.size() == 1);
        for (std::size_t i = 0; i < 32; ++i)
            CHECK(std::to_integer<unsigned>((*list.secrets[0])[i]) == i % 16 * 0x11);
    }
}

TEST_CASE("secrets stand in the order of their lines")
{
    secret_list const list = read_ticket_secrets(fmt::format("{}\n{}\n", other, hex));
    CHECK(list.faults.empty());
    REQUIRE(list.secrets.size() == 2);
    CHECK((*list.secrets[0])[0] == std::byte{0xff});
    CHECK((*list.secrets[1])[0] == std::byte{0});
}

TEST_CASE("a written secret is read again")
{
    auto const made = tls::new_ticket_secret();
    secret_list const list = read_ticket_secrets(hex_text(*made));
    REQUIRE(list.secrets.size() == 1);
    CHECK(*list.secrets[0] == *made);
}

TEST_CASE("a mistake has its line, and nothing of the secret")
{
    CHECK(one_fault("") == "1: there is no secret in the file");
    CHECK(one_fault("\n# later\n") == "1: there is no secret in the file");
    CHECK(
        one_fault(fmt::format("# one\n{}", hex.substr(2))) ==
        "2: a secret has 64 hexadecimal digits, which are 32 bytes: this has 62");
    CHECK(one_fault("c2hvcnQ=\n") == "1: a secret in base64 has 32 bytes: this has 5");
    CHECK(
        one_fault("-----BEGIN PRIVATE KEY-----") ==
        "1: this is neither hexadecimal digits nor base64");
    CHECK(
        one_fault(std::string_view{"\x01\x00\xff", 3}) ==
        "1: this is neither hexadecimal digits nor base64");
    CHECK(
        one_fault(fmt::format("{}\n{}\n\n{}\n", hex, other, base64)) ==
        "4: this is the secret of line 1 again");
}

TEST_CASE("there are at most eight secrets, and a file of another kind has few mistakes")
{
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += fmt::format("{:064x}\n", i);
    CHECK(read_ticket_secrets(text).faults.empty());
    CHECK(one_fault(text + fmt::format("{:064x}\n", 8)) == "9: there are more than 8 secrets");
    CHECK(
        read_ticket_secrets(std::string(2000, '\n') + std::string(200, '-') + "\n-")
            .faults.size() == 2);
    std::string lines;
    for (int i = 0; i < 1000; ++i)
        lines += "-\n";
    CHECK(read_ticket_secrets(lines).faults.size() == 8);
}

} // namespace
} // namespace cleat::app::secret_text_test
