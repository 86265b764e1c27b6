#include "core/match.hpp"

#include <doctest/doctest.h>

namespace statsync::match_test {
namespace {

track song(std::string artist, std::string album, std::string title, int year = 0)
{
    track made;
    made.key = artist + title;
    made.identity = {title, artist, album, "", year, 1, 1};
    return made;
}

match_result match_all(
    std::vector<std::vector<track>> const& lists, match_options const& options = {},
    fields reliable = identity_fields)
{
    std::vector<match_source> sources;
    for (std::vector<track> const& tracks : lists) {
        sources.push_back({reliable, tracks});
    }
    return match(sources, options);
}

TEST_CASE("a track that two providers have is matched, whatever its case")
{
    match_result const result =
        match_all({{song("Ärtist", "Album", "Title")}, {song("ärtist", "album", "tiTle")}});
    REQUIRE(result.groups.size() == 1);
    CHECK(result.groups[0] == track_group{{0, 0}, {1, 0}});
    CHECK(result.unique.empty());
}

TEST_CASE("a track that one provider has, even twice, is unique")
{
    track const one = song("a", "b", "c");
    match_result const result = match_all({{one, one}, {song("a", "b", "d")}});
    CHECK(result.groups.empty());
    CHECK(result.excluded.empty());
    CHECK(result.unique == std::vector<member>{{0, 0}, {0, 1}, {1, 0}});
}

TEST_CASE("a track that a provider has twice is excluded where another provider has it")
{
    track const one = song("a", "b", "c");
    match_result const two = match_all({{one, one}, {one}});
    CHECK(two.groups.empty());
    CHECK(two.excluded == std::vector<member>{{0, 0}, {0, 1}});
    CHECK(two.unique == std::vector<member>{{1, 0}});

    match_result const three = match_all({{one}, {one, one}, {one}});
    CHECK(three.groups == std::vector<track_group>{{{0, 0}, {2, 0}}});
    CHECK(three.excluded == std::vector<member>{{1, 0}, {1, 1}});
    CHECK(three.unique.empty());
}

TEST_CASE("both providers' duplicates are excluded")
{
    track const one = song("a", "b", "c");
    match_result const result = match_all({{one, one}, {one, one}});
    CHECK(result.excluded.size() == 4);
    CHECK(result.unique.empty());
}

TEST_CASE("only fields for which all providers are reliable are compared")
{
    std::vector<track> const left{song("a", "b", "c", 2000)};
    std::vector<track> const right{song("a", "b", "c", 2001)};
    std::vector<match_source> const all{{identity_fields, left}, {identity_fields, right}};
    CHECK(match(all).groups.empty());

    std::vector<match_source> const less{
        {identity_fields, left}, {identity_fields - field::year, right}};
    CHECK(match(less).groups.size() == 1);
    CHECK(match(less).compared == identity_fields - field::year);
}

TEST_CASE("unknown equals unknown only")
{
    CHECK(match_all({{song("a", "b", "c", 0)}, {song("a", "b", "c", 2000)}}).groups.empty());
    CHECK(match_all({{song("a", "", "c")}, {song("a", "b", "c")}}).groups.empty());
    CHECK(match_all({{song("", "", "c")}, {song("", "", "c")}}).groups.size() == 1);
}

TEST_CASE("names do not run into each other")
{
    CHECK(match_all({{song("ab", "c", "d")}, {song("a", "bc", "d")}}).groups.empty());
    CHECK(match_all({{song("a", "1:b", "d")}, {song("a1:", "b", "d")}}).groups.empty());
}

TEST_CASE("blanks and Unicode's forms count, except where folded names are asked for")
{
    std::vector<std::vector<track>> const lists{
        {song(" Stra\u00DFe", "e\u0301", "\uF900")}, {song("STRASSE", "\u00C9", "\u8C48")}};
    CHECK(match_all(lists).groups.empty());
    CHECK(match_all(lists, {.form = text_form::folded}).groups.size() == 1);
}

TEST_CASE("fields can be ignored, but not the mandatory ones")
{
    std::vector<std::vector<track>> const lists{
        {song("a", "b", "c", 1999)}, {song("a", "b", "c", 2000)}};
    CHECK(match_all(lists, {.ignored = field::year}).groups.size() == 1);
    CHECK(match_all({{song("a", "b", "c")}, {song("a", "x", "c")}}, {.ignored = field::album})
              .groups.empty());
}

} // namespace
} // namespace statsync::match_test
