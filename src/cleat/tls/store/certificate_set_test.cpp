#include <cleat/tls/store/certificate_set.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace cleat::tls::certificate_set_test {
namespace {

using numbers = std::vector<certificate_set::number>;
using names = std::vector<std::string>;
using enum key_type;

numbers numbers_of(candidates const& all)
{
    numbers found;
    for (candidate const& each : all)
        found.push_back(each.number);
    return found;
}

struct set_fixture
{
    certificate_set::number add(certificate_set& to, key_type type, names const& all)
    {
        certificate_set::number const added = store.add({.summary = {.type = type}, .names = all});
        to.add(added, [this](std::string_view name, std::uint32_t replaced, std::uint32_t used) {
            shared.emplace_back(name, replaced, used);
        });
        return added;
    }
    certificate_set::number add(key_type type, names const& all) { return add(set, type, all); }
    [[nodiscard]] numbers found(std::string_view name) const { return numbers_of(set.find(name)); }
    [[nodiscard]] numbers defaults() const { return numbers_of(set.defaults()); }

    certificate_store store{{}};
    certificate_set set{store};
    std::vector<std::tuple<std::string, std::uint32_t, std::uint32_t>> shared;
};

} // namespace

TEST_CASE_FIXTURE(set_fixture, "a set without certificates finds nothing")
{
    CHECK(found("example.com").empty());
    CHECK(set.size() == 0);
    CHECK(set.examples().empty());
}

TEST_CASE_FIXTURE(
    set_fixture, "an exact name is found before a wildcard, and a wildcard before none")
{
    add(rsa, {"*.example.com"});
    add(rsa, {"www.example.com"});
    add(rsa, {"other.example"});
    set.set_default(2);
    CHECK(found("www.example.com") == numbers{1});
    CHECK(found("api.example.com") == numbers{0});
    CHECK(found("example.com").empty());
    CHECK(found("a.b.example.com").empty());
    CHECK(defaults() == numbers{2});
    CHECK(set.lookup("www.example.com").match == name_match::exact);
    CHECK(set.lookup("api.example.com").match == name_match::wildcard);
    CHECK(set.lookup("a.b.example.com").match == name_match::none);
    CHECK(set.lookup("org").match == name_match::none);
}

TEST_CASE_FIXTURE(set_fixture, "case and a dot at the end do not matter, on either side")
{
    add(rsa, {"Example.COM.", "*.Example.com"});
    for (char const* name : {"EXAMPLE.com", "example.com.", "API.Example.Com"})
        CHECK_MESSAGE(found(name) == numbers{0}, name);
}

TEST_CASE_FIXTURE(set_fixture, "names that no client should send find nothing")
{
    add(rsa, {"*.example.com", "www.example.com"});
    for (std::string const& name :
         {std::string{}, std::string{"."}, std::string{".."}, std::string{".example.com"},
          std::string(64 * 1024, 'a'), std::string{"www.example.com\0", 16},
          std::string(300, 'a') + ".example.com", std::string{"xexample.com"}})
        CHECK(found(name).empty());
}

TEST_CASE_FIXTURE(
    set_fixture, "an exact name hides the wildcard's certificates of other types of key")
{
    add(ecdsa_p256, {"*.example.com"});
    add(rsa, {"www.example.com"});
    CHECK(found("www.example.com") == numbers{1});
}

TEST_CASE("certificates for a name come in the order of preference, however they were added")
{
    std::vector<key_type> types{rsa, ed25519, ecdsa_p384, ecdsa_p521, ecdsa_p256};
    std::ranges::sort(types);
    do {
        set_fixture f;
        for (key_type const each : types)
            f.add(each, {"a.example"});
        std::vector<key_type> found;
        for (candidate const& each : f.set.find("a.example"))
            found.push_back(each.type);
        CHECK(found == std::vector{ecdsa_p256, ecdsa_p384, ecdsa_p521, ed25519, rsa});
        CHECK(f.shared.empty());
    } while (std::ranges::next_permutation(types).found);
}

TEST_CASE_FIXTURE(set_fixture, "the later one of two certificates with a type of key has the name")
{
    add(ecdsa_p256, {"a.example", "*.b.example"});
    add(ecdsa_p256, {"a.example", "*.B.example"});
    add(ecdsa_p521, {"a.example"});
    CHECK(found("a.example") == numbers{1, 2});
    CHECK(found("x.b.example") == numbers{1});
    REQUIRE(shared.size() == 2);
    CHECK(shared.front() == std::tuple{"a.example", 0U, 1U});
    CHECK(shared.back() == std::tuple{"*.b.example", 0U, 1U});
}

TEST_CASE_FIXTURE(set_fixture, "later is the higher source, and then the greater path")
{
    auto const put = [&](char const* path, certificate_source_number source) {
        names const all{"a.example"};
        certificate_set::number const added =
            store.add({.paths = {path, ""}, .source = source, .names = all});
        set.add(added, {});
    };
    put("/b/a.pem", 1);
    put("/a/z/a.pem", 0);
    CHECK(found("a.example") == numbers{0});
    put("/b/a/a.pem", 1);
    CHECK(found("a.example") == numbers{2});
    put("/b/a-b.pem", 1); // '-' comes before '.' and '/'.
    CHECK(found("a.example") == numbers{2});
    put("/b/a/a.pem0", 1);
    CHECK(found("a.example") == numbers{4});
    put("/a/a.pem", 2);
    CHECK(found("a.example") == numbers{5});
}

TEST_CASE_FIXTURE(set_fixture, "a name that a certificate has twice is no shared name")
{
    add(rsa, {"a.example", "A.example", "a.example."});
    CHECK(found("a.example") == numbers{0});
    CHECK(shared.empty());
    set.remove(0);
    CHECK(found("a.example").empty());
}

TEST_CASE_FIXTURE(
    set_fixture, "the default is joined by the other types of key that have all its names")
{
    add(rsa, {"a.example", "b.example"});
    add(ed25519, {"a.example"});
    add(ecdsa_p256, {"b.example", "a.example"});
    set.set_default(2);
    CHECK(defaults() == numbers{2, 0});
}

TEST_CASE_FIXTURE(
    set_fixture, "a default that others have replaced everywhere is still the default")
{
    add(rsa, {"a.example"});
    add(rsa, {"a.example"});
    set.set_default(0);
    CHECK(defaults() == numbers{0});
}

TEST_CASE_FIXTURE(set_fixture, "a default needs no name")
{
    add(rsa, {});
    set.set_default(0);
    CHECK(defaults() == numbers{0});
    CHECK(set.size() == 1);
}

TEST_CASE_FIXTURE(set_fixture, "a certificate that is removed leaves its names to the others")
{
    add(rsa, {"a.example", "b.example"});
    add(rsa, {"a.example"});
    CHECK(found("a.example") == numbers{1});
    set.remove(1);
    CHECK(found("a.example") == numbers{0});
    CHECK(found("b.example") == numbers{0});
    set.remove(0);
    CHECK(found("a.example").empty());
    CHECK(set.size() == 0);
}

TEST_CASE_FIXTURE(set_fixture, "there is an example of each type of key, as long as there is one")
{
    add(rsa, {"a.example"});
    add(ecdsa_p256, {"b.example"});
    add(rsa, {"c.example"});
    CHECK(numbers_of(set.examples()) == numbers{1, 0});
    set.remove(0);
    store.remove(0);
    set.remove(1);
    store.remove(1);
    set.seal();
    CHECK(numbers_of(set.examples()) == numbers{2});
}

TEST_CASE_FIXTURE(set_fixture, "a set above another has its own certificates, then the other's")
{
    add(ecdsa_p256, {"a.example", "*.wide.example"});
    add(rsa, {"a.example", "b.example"});
    certificate_set own{store, &set};
    add(own, ecdsa_p256, {"a.example", "x.wide.example"});
    own.set_default(2);
    CHECK(numbers_of(own.find("a.example")) == numbers{2, 1});
    CHECK(numbers_of(own.find("b.example")) == numbers{1});
    CHECK(numbers_of(own.find("x.wide.example")) == numbers{2});
    CHECK(numbers_of(own.find("y.wide.example")) == numbers{0});
    CHECK(found("a.example") == numbers{0, 1});
    CHECK(own.size() == 3);
    CHECK(numbers_of(own.examples()) == numbers{2, 1});
    CHECK(own.serves(set));
    CHECK_FALSE(set.serves(own));
    CHECK(shared.size() == 1);
}

TEST_CASE("a copy for a changed store finds what has changed, and the set before what was there")
{
    set_fixture f;
    for (int i = 0; i < 1000; ++i)
        f.add(ecdsa_p256, {"site" + std::to_string(i) + ".example"});
    f.store.seal();
    f.set.seal();

    certificate_store store{f.store};
    certificate_set set{f.set, store, nullptr};
    set.remove(500);
    names const renamed{"renamed.example"};
    store.replace(500, {.type = rsa}, renamed, {});
    set.add(500, {});
    set.remove(7);
    store.remove(7);
    store.seal();
    set.seal();

    CHECK(numbers_of(set.find("renamed.example")) == numbers{500});
    CHECK(set.find("renamed.example").front().type == rsa);
    CHECK(set.find("site500.example").empty());
    CHECK(set.find("site7.example").empty());
    CHECK(numbers_of(set.find("site8.example")) == numbers{8});
    CHECK(set.size() == 999);
    CHECK(f.found("site500.example") == numbers{500});
    CHECK(f.found("site7.example") == numbers{7});
    CHECK(f.found("renamed.example").empty());
    CHECK(f.set.size() == 1000);
}

TEST_CASE_FIXTURE(
    set_fixture, "a certificate that moves to another source is used, or not any more")
{
    names const all{"a.example"};
    for (certificate_source_number const source : {1U, 2U, 3U})
        set.add(store.add({.source = source, .names = all}), {});
    auto const move = [&](certificate_set::number moved, certificate_source_number source) {
        set.remove(moved);
        store.set_source(moved, source);
        set.add(moved, {});
    };
    CHECK(found("a.example") == numbers{2});
    move(0, 4);
    CHECK(found("a.example") == numbers{0});
    move(0, 0);
    CHECK(found("a.example") == numbers{2});
}

TEST_CASE_FIXTURE(set_fixture, "a name is the latest one's, whichever come and go")
{
    constexpr certificate_set::number count = 200;
    std::array const types{ecdsa_p256, rsa};
    std::array const each_name{"a.example", "b.example", ".c.example"};
    auto const shown = [](std::string_view name) {
        return (name.front() == '.' ? "www" : "") + std::string{name};
    };
    std::mt19937 random{7};
    auto const below = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(random() % end);
    };
    for (certificate_set::number i = 0; i < count; ++i) {
        names all;
        for (char const* const name : each_name)
            if (below(2) == 0)
                all.push_back((*name == '.' ? "*" : "") + std::string{name});
        store.add({.source = below(50), .summary = {.type = types[below(2)]}, .names = all});
    }
    std::vector<bool> is_there(count);
    for (int step = 0; step < 3000; ++step) {
        certificate_set::number const chosen = below(count);
        if (is_there[chosen])
            set.remove(chosen);
        else
            set.add(chosen, {});
        is_there[chosen] = !is_there[chosen];
        for (std::string_view const name : each_name) {
            candidates expected;
            for (certificate_set::number i = 0; i < count; ++i) {
                if (!is_there[i] || !store.has_name(i, name))
                    continue;
                candidate const* const other = expected.find(store.summary(i).type);
                if (other == nullptr || store.is_later(i, other->number))
                    expected.put({i, store.summary(i).type});
            }
            REQUIRE(found(shown(name)) == numbers_of(expected));
        }
    }
}

TEST_CASE("a copy has its own certificates for a shared name")
{
    set_fixture f;
    for (int i = 0; i < 4; ++i)
        f.add(ecdsa_p256, {"a.example"});
    f.store.seal();
    f.set.seal();
    certificate_store store{f.store};
    certificate_set set{f.set, store, nullptr};
    for (certificate_set::number const each : {3U, 1U, 0U}) {
        set.remove(each);
        store.remove(each);
    }
    set.seal();
    CHECK(numbers_of(set.find("a.example")) == numbers{2});
    CHECK(f.found("a.example") == numbers{3});
}

TEST_CASE_FIXTURE(set_fixture, "a hundred thousand certificates may have a name in common")
{
    constexpr certificate_set::number count = 100'000;
    for (certificate_set::number i = 0; i < count; ++i)
        add(ecdsa_p256, {"shared.example", "site" + std::to_string(i) + ".example"});
    CHECK(found("shared.example") == numbers{count - 1});
    CHECK(shared.size() == count - 1);
    for (certificate_set::number i = count - 1; i > 0; --i) {
        set.remove(i);
        REQUIRE(found("shared.example") == numbers{i - 1});
    }
    set.seal();
    CHECK(numbers_of(set.examples()) == numbers{0});
}

TEST_CASE_FIXTURE(
    set_fixture, "a hundred thousand names are found, each with its own certificate, no other")
{
    constexpr std::uint32_t count = 100'000;
    for (std::uint32_t i = 0; i < count; ++i)
        // Names that differ in their first label, in their last, and in one letter's case only.
        add(ecdsa_p256, {i % 2 == 0 ? "Host" + std::to_string(i) + ".example"
                                    : "*.zone" + std::to_string(i) + ".example"});
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string const name = i % 2 == 0 ? "hoST" + std::to_string(i) + ".example"
                                            : "www.zone" + std::to_string(i) + ".example";
        REQUIRE(found(name) == numbers{i});
        REQUIRE(found("no" + name).empty() == (i % 2 == 0));
    }
}

} // namespace cleat::tls::certificate_set_test
