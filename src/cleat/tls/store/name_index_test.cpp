#include <cleat/tls/store/name_index.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cleat::tls::name_index_test {
namespace {

using numbers = std::vector<std::uint32_t>;

// The certificates for a name, in the order of preference.
numbers found(name_index const& index, std::string_view name)
{
    numbers all;
    for (candidate const each : index.find(name))
        all.push_back(each.number());
    return all;
}

name_index three_sites()
{
    name_index index;
    index.add("www.example.com", key_type::rsa, 0);
    index.add("*.example.com", key_type::ecdsa_p256, 1);
    index.add("Example.COM", key_type::ed25519, 2);
    return index;
}

TEST_CASE("an index without names finds nothing")
{
    name_index const index;
    CHECK(index.find("example.com").empty());
    CHECK(index.size() == 0);
}

TEST_CASE("an exact name wins over the wildcard that also covers it")
{
    name_index const index = three_sites();
    CHECK(found(index, "www.example.com") == numbers{0});
    CHECK(found(index, "api.example.com") == numbers{1});
}

TEST_CASE("a lookup says whether the name or a wildcard was found")
{
    name_index const index = three_sites();
    CHECK(index.lookup("www.example.com").match == name_match::exact);
    CHECK(index.lookup("api.example.com").match == name_match::wildcard);
    CHECK(index.lookup("a.b.example.com").match == name_match::none);
    CHECK(index.lookup("org").match == name_match::none);
}

TEST_CASE("case and a dot at the end do not matter, on either side")
{
    name_index const index = three_sites();
    CHECK(found(index, "EXAMPLE.com") == numbers{2});
    CHECK(found(index, "example.com.") == numbers{2});
    CHECK(found(index, "API.Example.Com") == numbers{1});
}

TEST_CASE("a wildcard stands for exactly one label")
{
    name_index const index = three_sites();
    CHECK(index.find("a.b.example.com").empty());
    CHECK(index.find(".example.com").empty());
    CHECK(index.find("other.org").empty());
    CHECK(index.find("xexample.com").empty());
}

TEST_CASE("names that no client should send find nothing")
{
    name_index const index = three_sites();
    CHECK(index.find("").empty());
    CHECK(index.find(".").empty());
    CHECK(index.find("..").empty());
    CHECK(index.find(std::string(64 * 1024, 'a')).empty());
    CHECK(index.find(std::string_view{"www.example.com\0", 16}).empty());
    CHECK(index.find(std::string(300, 'a') + ".example.com").empty());
}

TEST_CASE("RSA, ECDSA and Ed25519 certificates share a name; two of a kind do not")
{
    name_index index;
    CHECK(index.add("a.test", key_type::rsa, 0) == name_index::none);
    CHECK(index.add("a.test", key_type::ecdsa_p384, 1) == name_index::none);
    CHECK(found(index, "a.test") == numbers{1, 0});
    CHECK(index.add("A.test.", key_type::ecdsa_p256, 2) == 1);
    CHECK(found(index, "a.test") == numbers{2, 0});
    CHECK(index.add("a.test", key_type::ed25519, 3) == name_index::none);
    CHECK(found(index, "a.test") == numbers{2, 3, 0});
    CHECK(index.add("a.test", key_type::rsa, 4) == 0);
    CHECK(found(index, "a.test") == numbers{2, 3, 4});
    CHECK(index.size() == 1);
}

TEST_CASE("the order of preference does not depend on the order of adding")
{
    std::vector<key_type> types{key_type::ecdsa_p256, key_type::rsa, key_type::ed25519};
    std::ranges::sort(types);
    do {
        name_index index;
        std::uint32_t number = 0;
        for (key_type const each : types)
            index.add("a.test", each, number++);
        std::vector<key_kind> kinds;
        for (candidate const each : index.find("a.test"))
            kinds.push_back(each.kind());
        CHECK(kinds == std::vector{key_kind::ecdsa, key_kind::ed25519, key_kind::rsa});
    } while (std::ranges::next_permutation(types).found);
}

TEST_CASE("a hundred thousand names are found, each with its own certificate, and no other is")
{
    constexpr std::uint32_t count = 100'000;
    name_index index;
    for (std::uint32_t i = 0; i < count; ++i)
        // Names that differ in their first label, in their last, and in one letter's case only.
        index.add(
            i % 2 == 0 ? "Host" + std::to_string(i) + ".example"
                       : "*.zone" + std::to_string(i) + ".example",
            key_type::ecdsa_p256, i);
    CHECK(index.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string const name = i % 2 == 0 ? "hoST" + std::to_string(i) + ".example"
                                            : "www.zone" + std::to_string(i) + ".example";
        REQUIRE(found(index, name) == numbers{i});
        REQUIRE(index.find("no" + name).empty() == (i % 2 == 0));
    }
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
} // namespace cleat::tls::name_index_test
