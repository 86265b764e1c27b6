#include <cleat/tls/store/certificate_set.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <doctest/doctest.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::tls::certificate_set_test {
namespace {

using numbers = std::vector<certificate_set::number>;
using names = std::vector<std::string>;

numbers numbers_of(std::span<candidate const> candidates)
{
    numbers all;
    for (candidate const each : candidates)
        all.push_back(each.number());
    return all;
}

struct set_fixture
{
    void add(certificate_set::number certificate, key_type type, names const& all)
    {
        set.add(certificate, type, all, [this](std::string const& name, std::uint32_t earlier) {
            replaced.emplace_back(name, earlier);
        });
    }
    [[nodiscard]] numbers found(std::string_view name) const { return numbers_of(set.find(name)); }
    [[nodiscard]] numbers defaults() const { return numbers_of(set.defaults()); }

    certificate_set set;
    std::vector<std::pair<std::string, certificate_set::number>> replaced;
};

} // namespace

TEST_CASE_FIXTURE(
    set_fixture, "an exact name is found before a wildcard, and a wildcard before none")
{
    add(0, key_type::rsa, {"*.example.com"});
    add(1, key_type::rsa, {"www.example.com"});
    add(2, key_type::rsa, {"other.example"});
    set.set_default(2, key_type::rsa, names{"other.example"});
    CHECK(found("www.example.com") == numbers{1});
    CHECK(found("api.example.com") == numbers{0});
    CHECK(found("example.com").empty());
    CHECK(found("a.b.example.com").empty());
    CHECK(defaults() == numbers{2});
}

TEST_CASE_FIXTURE(
    set_fixture, "an exact name hides the wildcard's certificates of other kinds of key")
{
    add(0, key_type::ecdsa_p256, {"*.example.com"});
    add(1, key_type::rsa, {"www.example.com"});
    CHECK(found("www.example.com") == numbers{1});
}

TEST_CASE_FIXTURE(set_fixture, "certificates for a name come in the order of their kinds of key")
{
    add(0, key_type::rsa, {"a.example"});
    add(1, key_type::ed25519, {"a.example"});
    add(2, key_type::ecdsa_p384, {"a.example"});
    CHECK(found("a.example") == numbers{2, 1, 0});
    CHECK(set.type_of(2) == key_type::ecdsa_p384);
    CHECK(replaced.empty());
}

TEST_CASE_FIXTURE(set_fixture, "the later one of two certificates with a kind of key has the name")
{
    add(4, key_type::ecdsa_p256, {"a.example", "b.example"});
    add(7, key_type::ecdsa_p521, {"a.example"});
    CHECK(found("a.example") == numbers{7});
    CHECK(found("b.example") == numbers{4});
    REQUIRE(replaced.size() == 1);
    CHECK(replaced.front() == std::pair{std::string{"a.example"}, certificate_set::number{4}});
}

TEST_CASE_FIXTURE(set_fixture, "a name that a certificate has twice replaces nothing")
{
    add(0, key_type::rsa, {"a.example", "A.example", "a.example."});
    CHECK(found("a.example") == numbers{0});
    CHECK(replaced.empty());
}

TEST_CASE_FIXTURE(
    set_fixture, "the default is joined by the other kinds of key that have all its names")
{
    add(0, key_type::rsa, {"a.example", "b.example"});
    add(1, key_type::ed25519, {"a.example"});
    add(2, key_type::ecdsa_p256, {"b.example", "a.example"});
    set.set_default(2, key_type::ecdsa_p256, names{"b.example", "a.example"});
    CHECK(defaults() == numbers{2, 0});
}

TEST_CASE_FIXTURE(
    set_fixture, "a default that others have replaced everywhere is still the default")
{
    add(0, key_type::rsa, {"a.example"});
    add(1, key_type::rsa, {"a.example"});
    set.set_default(0, key_type::rsa, names{"a.example"});
    CHECK(defaults() == numbers{0});
}

TEST_CASE_FIXTURE(set_fixture, "a default needs no name")
{
    add(3, key_type::rsa, {});
    set.set_default(3, key_type::rsa, {});
    CHECK(defaults() == numbers{3});
    CHECK(set.size() == 1);
}

TEST_CASE_FIXTURE(set_fixture, "examples are the first certificates of each type of key")
{
    add(2, key_type::rsa, {});
    add(5, key_type::ecdsa_p256, {});
    add(6, key_type::rsa, {});
    add(9, key_type::ecdsa_p384, {});
    CHECK(numbers{set.examples().begin(), set.examples().end()} == numbers{2, 5, 9});
}

TEST_CASE("a store gives back the paths that it took")
{
    certificate_store store{"/srv"};
    std::vector<certificate_paths> const all{
        {"/a/one.pem", ""},
        {"/a/two.pem", "/keys/two.key"},
        {"three.pem", "below/three.key"},
        {"/a/four.pem", "/a/four.key"},
        {"/a/" + std::string(255, 'x'), ""}};
    for (certificate_paths const& each : all)
        CHECK(store.add(each, {}) == &each - all.data());
    store.shrink();
    CHECK(store.size() == all.size());
    for (certificate_store::number i = 0; i < store.size(); ++i) {
        CHECK(store.paths(i).chain == all[i].chain);
        CHECK(store.paths(i).private_key == all[i].private_key);
    }
    CHECK(store.origin(0) == "/a/one.pem");
    CHECK(store.origin(1) == "/a/two.pem with /keys/two.key");
    CHECK(store.working_folder() == "/srv");
    CHECK_THROWS_AS(store.add({"/a/" + std::string(256, 'x'), ""}, {}), std::length_error);
}

} // namespace cleat::tls::certificate_set_test
