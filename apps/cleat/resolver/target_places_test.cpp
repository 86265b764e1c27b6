#include "resolver/target_places.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::target_places_test {
namespace {

// The names by place, and "-" for an empty one.
std::string placed(std::vector<std::string> const& present, std::vector<dns_target> const& targets)
{
    std::string names;
    for (dns_target const* const each : place_targets(present, targets))
        names += each == nullptr ? "-" : each->name;
    return names;
}

} // namespace

TEST_CASE("a target keeps its place, and others fill the places that are free")
{
    CHECK(placed({"", "", ""}, {{"a", {}}, {"b", {}}}) == "ab-");
    CHECK(placed({"a", "b", ""}, {{"b", {}}, {"a", {}}}) == "ab-");
    CHECK(placed({"a", "b", ""}, {{"c", {}}, {"b", {}}}) == "cb-");
    CHECK(placed({"a", "b", ""}, {{"b", {}}}) == "-b-");
    CHECK(placed({"a", "b", ""}, {}) == "---");
}

TEST_CASE("targets without a place are left out, and one that comes twice has two")
{
    CHECK(placed({"a", "b"}, {{"c", {}}, {"d", {}}, {"b", {}}}) == "cb");
    CHECK(placed({"a", "", ""}, {{"a", {}}, {"a", {}}}) == "aa-");
}

TEST_CASE("a host has one place")
{
    CHECK(place_targets({""}, {{"", {}}}).front() != nullptr);
    CHECK(place_targets({""}, {}).front() == nullptr);
}

} // namespace cleat::app::target_places_test
