#include "report/symbol_index.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::locks::symbol_index_test {

std::string name_at(symbol_index const& index, std::uint64_t address)
{
    std::optional<symbol_index::symbol> const found = index.around(address);
    return found ? found->name : "";
}

TEST_CASE("a symbol is found from its first byte to its last, in any order of the table")
{
    symbol_index const index{{{300, 310, "last"}, {100, 200, "first"}, {200, 300, "second"}}};
    CHECK(name_at(index, 99).empty());
    CHECK(name_at(index, 100) == "first");
    CHECK(name_at(index, 199) == "first");
    CHECK(name_at(index, 200) == "second");
    CHECK(name_at(index, 309) == "last");
    CHECK(name_at(index, 310).empty());
}

TEST_CASE("of nested symbols the innermost counts, and behind it the outer one")
{
    symbol_index const index{{{100, 200, "outer"}, {120, 130, "inner"}, {150, 151, "byte"}}};
    CHECK(name_at(index, 119) == "outer");
    CHECK(name_at(index, 125) == "inner");
    CHECK(name_at(index, 150) == "byte");
    CHECK(name_at(index, 199) == "outer");
}

TEST_CASE("of several names of one place the most visible counts")
{
    symbol_index const index{
        {{100, 200, "weak", 2}, {100, 200, "global", 3}, {100, 200, "local", 0}}};
    CHECK(name_at(index, 150) == "global");
    // A shorter one does not hide the others behind its end.
    symbol_index const shorter{{{100, 200, "local", 0}, {100, 110, "global", 3}}};
    CHECK(name_at(shorter, 105) == "global");
    CHECK(name_at(shorter, 150) == "local");
}

TEST_CASE("an empty table finds nothing")
{
    CHECK(!symbol_index{std::vector<symbol_index::symbol>{}}.around(0));
}

} // namespace cleat::locks::symbol_index_test
