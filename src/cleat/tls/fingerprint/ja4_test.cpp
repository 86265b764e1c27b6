#include <cleat/core/limits.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>
#include <cleat/tls/hello/hello_bytes_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::tls::ja4_test {
namespace {

using numbers = std::vector<std::uint16_t>;
using bytes = hello_bytes;

// A client as publications describe it: its numbers, in the order of its ClientHello.
struct client
{
    numbers suites;
    numbers extensions;
    numbers schemes;
    numbers versions{0x0304, 0x0303};
    std::string alpn{"h2"};
    std::uint16_t legacy_version = 0x0303;

    [[nodiscard]] bytes body_of(std::uint16_t extension) const
    {
        switch (extension) {
        case 13:
            return list_of(schemes, 2);
        case 16: {
            bytes name;
            add_all(name, with_length({alpn.begin(), alpn.end()}, 1));
            add_all(name, with_length({'h', 't', 't', 'p', '/', '1', '.', '1'}, 1));
            bytes body;
            add_all(body, with_length(name, 2));
            return body;
        }
        case 43:
            return list_of(versions, 1);
        default:
            return {1, 2, 3};
        }
    }

    [[nodiscard]] bytes hello() const
    {
        bytes out;
        add_number(out, legacy_version, 2);
        out.resize(out.size() + 32, 0x5a);
        add_all(out, with_length(bytes(32, 0x77), 1));
        bytes const offered = list_of(suites, 2);
        out.insert(out.end(), offered.begin(), offered.end());
        add_all(out, with_length({0}, 1));
        bytes body;
        for (std::uint16_t const each : extensions) {
            add_number(body, each, 2);
            add_all(body, with_length(body_of(each), 2));
        }
        add_all(out, with_length(body, 2));
        return out;
    }
};

std::string ja4(bytes const& hello)
{
    return std::string{ja4_of(hello).text()};
}

// Of JA4's own specification.
client const specified{
    {0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013, 0xc014, 0x009c,
     0x009d, 0x002f, 0x0035},
    {0x001b, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017, 0x002d, 0x000d, 0x0005, 0x0023, 0x0012, 0x002b,
     0xff01, 0x000b, 0x000a, 0x0015},
    {0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601}};

} // namespace

TEST_CASE("published clients have their published fingerprints")
{
    CHECK(ja4(specified.hello()) == "t13d1516h2_8daaf6152771_e5627efa2ab1");

    client chrome_143 = specified;
    chrome_143.extensions = {0x002d, 0x0033, 0x0010, 0xfe0d, 0x0017, 0x44cd, 0x0000, 0x000b,
                             0x000a, 0x002b, 0xff01, 0x0023, 0x0012, 0x0005, 0x000d, 0x001b};
    CHECK(ja4(chrome_143.hello()) == "t13d1516h2_8daaf6152771_d8a2da3f94cd");

    client const firefox{
        {0x1301, 0x1303, 0x1302, 0xc02b, 0xc02f, 0xcca9, 0xcca8, 0xc02c, 0xc030, 0xc00a, 0xc009,
         0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035},
        {0x0000, 0x0017, 0xff01, 0x000a, 0x000b, 0x0023, 0x0010, 0x0005, 0x0022, 0x0033, 0x002b,
         0x000d, 0x002d, 0x001c, 0x0015},
        {0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0203, 0x0201}};
    CHECK(ja4(firefox.hello()) == "t13d1715h2_5b57614c22b0_3d5424432f57");

    client const scsv{
        {0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0x00ff},
        {0x0000, 0x000b, 0x000a, 0x0023, 0x0010, 0x0005, 0x0017, 0x000d, 0x002b, 0x002d, 0x0033},
        {0x0503, 0x0403, 0x0807, 0x0806, 0x0805, 0x0804, 0x0601, 0x0501, 0x0401}};
    CHECK(ja4(scsv.hello()) == "t13d1011h2_61a7ad8aa9b6_3fcd1a44f3e3");
}

TEST_CASE("without signature algorithms the list of extensions ends the hash")
{
    client none = specified;
    none.schemes.clear();
    CHECK(ja4(none.hello()) == "t13d1516h2_8daaf6152771_6d807ffa2a79");
}

TEST_CASE("GREASE is ignored wherever it is, and the order of suites and extensions, too")
{
    client greasy = specified;
    greasy.suites.insert(greasy.suites.begin(), 0x7a7a);
    greasy.extensions.insert(greasy.extensions.begin(), 0x1a1a);
    greasy.extensions.push_back(0xfafa);
    greasy.schemes.insert(greasy.schemes.begin() + 2, 0x0a0a);
    greasy.versions.insert(greasy.versions.begin(), 0xeaea);
    std::swap(greasy.suites.front(), greasy.suites.back());
    std::swap(greasy.extensions[3], greasy.extensions[9]);
    CHECK(ja4(greasy.hello()) == ja4(specified.hello()));
    greasy.suites.push_back(0x0a1a); // Not GREASE.
    CHECK(ja4(greasy.hello()).starts_with("t13d1616h2_"));
}

TEST_CASE("the version is the highest supported one, or else the legacy version")
{
    client other = specified;
    struct
    {
        numbers versions;
        std::string_view name;
    } const each[] = {{{0x0304, 0x0303}, "t13d"}, {{0x0302, 0x0303}, "t12d"},
                      {{0x0301, 0x0302}, "t11d"}, {{0x0301}, "t10d"},
                      {{0x0300}, "ts3d"},         {{0x0305}, "t00d"}};
    for (auto const& row : each) {
        other.versions = row.versions;
        CHECK(ja4(other.hello()).substr(0, 4) == row.name);
    }
    std::erase(other.extensions, 0x002b);
    CHECK(ja4(other.hello()).starts_with("t12d"));
    std::erase(other.extensions, 0x0000);
    CHECK(ja4(other.hello()).starts_with("t12i"));
}

TEST_CASE("a protocol has its first and last character, or digit where these are no letters")
{
    struct
    {
        std::string alpn;
        std::string_view name;
    } const each[] = {{"h2", "h2"},    {"http/1.1", "h1"},   {"h", "hh"},
                      {"", "00"},      {"\xab", "ab"},       {"\xab\xcd", "ad"},
                      {"0\xab", "3b"}, {"01\xab\xcd", "3d"}, {"0\xab\xcd\x31", "01"}};
    for (auto const& row : each) {
        client other = specified;
        other.alpn = row.alpn;
        CHECK(ja4(other.hello()).substr(8, 2) == row.name);
    }
    client none = specified;
    std::erase(none.extensions, 0x0010);
    CHECK(ja4(none.hello()) == "t13d151500_8daaf6152771_e5627efa2ab1");
}

TEST_CASE("a client without suites or extensions has zeros in their places")
{
    client bare;
    CHECK(ja4(bare.hello()) == "t12i000000_000000000000_000000000000");
    bytes hello = bare.hello();
    hello.resize(hello.size() - 2); // No extensions at all, not even their length.
    CHECK(ja4(hello) == "t12i000000_000000000000_000000000000");
}

TEST_CASE("a message that is cut anywhere has no fingerprint, but where it has no extensions")
{
    bytes const whole = specified.hello();
    std::size_t found = 0;
    for (std::size_t size = 0; size != whole.size(); ++size)
        found +=
            ja4(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))).size();
    CHECK(found == ja4_fingerprint::size_max); // Before the length of the extensions.
}

TEST_CASE("counts end at 99, and a client that offers more than anybody has no fingerprint")
{
    client many = specified;
    for (std::uint16_t i = 0; many.suites.size() < 120; ++i)
        many.suites.push_back(static_cast<std::uint16_t>(0x2000 + i));
    CHECK(ja4(many.hello()).starts_with("t13d9916h2_"));
    for (std::uint16_t i = 0; many.suites.size() <= limits::fingerprint_values_max; ++i)
        many.suites.push_back(static_cast<std::uint16_t>(0x3000 + i));
    CHECK(ja4(many.hello()).empty());
}

} // namespace cleat::tls::ja4_test
