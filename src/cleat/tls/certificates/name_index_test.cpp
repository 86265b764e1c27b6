#include <cleat/tls/certificates/name_index.hpp>

#include <doctest/doctest.h>

#include <string>

namespace cleat::tls {
namespace {

using choice = name_index::choice;

name_index three_sites()
{
    name_index index;
    index.add("www.example.com", key_type::rsa, 0);
    index.add("*.example.com", key_type::ecdsa_p256, 1);
    index.add("Example.COM", key_type::ed25519, 2);
    return index;
}

TEST_CASE("an exact name wins over the wildcard that also covers it")
{
    name_index const index = three_sites();
    REQUIRE(index.find("www.example.com") != nullptr);
    CHECK(*index.find("www.example.com") == choice{name_index::none, 0});
    REQUIRE(index.find("api.example.com") != nullptr);
    CHECK(*index.find("api.example.com") == choice{1, name_index::none});
}

TEST_CASE("case and a dot at the end do not matter, on either side")
{
    name_index const index = three_sites();
    CHECK(index.find("EXAMPLE.com") == index.find("example.com"));
    CHECK(index.find("example.com.") == index.find("example.com"));
    CHECK(index.find("API.Example.Com") == index.find("api.example.com"));
    REQUIRE(index.find("example.com") != nullptr);
    CHECK(index.find("example.com")->ed25519 == 2);
}

TEST_CASE("a wildcard stands for exactly one label")
{
    name_index const index = three_sites();
    CHECK(index.find("a.b.example.com") == nullptr);
    CHECK(index.find(".example.com") == nullptr);
    CHECK(index.find("other.org") == nullptr);
    CHECK(index.find("xexample.com") == nullptr);
}

TEST_CASE("names that no client should send find nothing")
{
    name_index const index = three_sites();
    CHECK(index.find("") == nullptr);
    CHECK(index.find(".") == nullptr);
    CHECK(index.find("..") == nullptr);
    CHECK(index.find(std::string(64 * 1024, 'a')) == nullptr);
    CHECK(index.find(std::string_view{"www.example.com\0", 16}) == nullptr);
    CHECK(index.find(std::string(300, 'a') + ".example.com") == nullptr);
}

TEST_CASE("RSA, ECDSA and Ed25519 certificates share a name; two of a kind do not")
{
    name_index index;
    CHECK(index.add("a.test", key_type::rsa, 0) == name_index::none);
    CHECK(index.add("a.test", key_type::ecdsa_p384, 1) == name_index::none);
    CHECK(*index.find("a.test") == choice{1, 0});
    CHECK(index.add("A.test.", key_type::ecdsa_p256, 2) == 1);
    CHECK(*index.find("a.test") == choice{2, 0});
    CHECK(index.add("a.test", key_type::ed25519, 3) == name_index::none);
    CHECK(*index.find("a.test") == choice{2, 0, 3});
    CHECK(index.size() == 1);
}

TEST_CASE("only DNS names and whole-label wildcards are usable")
{
    for (char const* good :
         {"a", "a.b", "*.b", "xn--bcher-kva.example", "a_b.c", "a.b.", "1.2.3.4"})
        CHECK_MESSAGE(name_index::is_usable(good), good);
    for (char const* bad :
         {"", ".", "*", "*.", "*.*.b", "a.*.b", "w*.b", "a..b", ".a", "a b", "a\nb", "b\xc3\xbc"})
        CHECK_MESSAGE(!name_index::is_usable(bad), bad);
    CHECK(!name_index::is_usable(std::string_view{"a\0.b", 4}));
    CHECK(!name_index::is_usable(std::string(64, 'a')));
    CHECK(!name_index::is_usable("*." + std::string(252, 'a')));
}

} // namespace
} // namespace cleat::tls
