#include "probe/old_hello.hpp"

#include <doctest/doctest.h>

namespace cleat::bench::old_hello_test {
namespace {

std::size_t number_at(std::string_view bytes, std::size_t offset, unsigned size)
{
    std::size_t found = 0;
    for (unsigned i = 0; i < size; ++i)
        found = found << 8 | static_cast<unsigned char>(bytes.at(offset + i));
    return found;
}

TEST_CASE("an old ClientHello is one record, and every size in it is right")
{
    for (old_version const v : old_versions)
        for (std::string_view const name : {"", "example.org"}) {
            std::string const made = old_hello(v, name);
            REQUIRE(number_at(made, 0, 1) == 22);
            CHECK(number_at(made, 1, 2) == static_cast<std::uint16_t>(v));
            CHECK(number_at(made, 3, 2) == made.size() - 5);
            CHECK(number_at(made, 5, 1) == 1);
            CHECK(number_at(made, 6, 3) == made.size() - 9);
            CHECK(number_at(made, 9, 2) == static_cast<std::uint16_t>(v));
            std::size_t offset = 11 + 32;
            CHECK(number_at(made, offset, 1) == 0);
            offset += 1 + 2 + number_at(made, offset + 1, 2); // Session, suites.
            CHECK(number_at(made, offset, 2) == 0x0100);      // Compression.
            offset += 2;
            if (v == old_version::ssl_3_0) {
                CHECK(offset == made.size());
                continue;
            }
            REQUIRE(number_at(made, offset, 2) == made.size() - offset - 2);
            bool named = false;
            for (offset += 2; offset < made.size(); offset += 4 + number_at(made, offset + 2, 2))
                named |= number_at(made, offset, 2) == 0;
            CHECK(offset == made.size());
            CHECK(named == !name.empty());
            CHECK((made.find(name) != made.npos));
        }
}

TEST_CASE("a ServerHello says which version was chosen, and nothing else does")
{
    std::string const hello{"\x16\x03\x01\x00\x50\x02\x00\x00\x4c\x03\x01rest", 15};
    CHECK(chosen_version(hello) == 0x0301);
    for (std::size_t size = 0; size < chosen_version_size; ++size)
        CHECK_FALSE(chosen_version(std::string_view{hello}.substr(0, size)));
    CHECK_FALSE(
        chosen_version(std::string_view{"\x15\x03\x01\x00\x02\x02\x46\x00\x00\x00\x00", 11}));
    CHECK_FALSE(chosen_version("HTTP/1.1 400 Bad Request"));
}

} // namespace
} // namespace cleat::bench::old_hello_test
