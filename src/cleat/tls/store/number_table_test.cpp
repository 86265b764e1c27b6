#include <cleat/tls/store/number_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace cleat::tls::number_table_test {
namespace {

using numbers = std::vector<number_table::number>;

numbers found(number_table const& table, number_table::hash key)
{
    numbers all;
    table.for_each(key, [&](number_table::number each) { all.push_back(each); });
    std::ranges::sort(all);
    return all;
}

} // namespace

TEST_CASE("a table without numbers finds nothing")
{
    number_table const table;
    CHECK(found(table, 0).empty());
    CHECK(table.size() == 0);
}

TEST_CASE("several numbers may have a hash, and a number several hashes")
{
    number_table table;
    table.insert(7, 1);
    table.insert(7, 2);
    table.insert(8, 1);
    table.insert(7, 1);
    CHECK(found(table, 7) == numbers{1, 1, 2});
    CHECK(found(table, 8) == numbers{1});
    table.erase(7, 1);
    CHECK(found(table, 7) == numbers{1, 2});
    table.erase(7, 1);
    table.erase(7, 2);
    CHECK(found(table, 7).empty());
    CHECK(found(table, 8) == numbers{1});
}

// Few different hashes make long runs of full slots, over the end of a block, too.
TEST_CASE("what is inserted and erased in any order is what a simple table has")
{
    for (std::uint32_t const hashes : {3U, 40U, 5000U, UINT32_MAX}) {
        CAPTURE(hashes);
        std::mt19937 random{hashes};
        std::unordered_multimap<std::uint32_t, std::uint32_t> expected;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
        number_table table;
        for (std::uint32_t i = 0; i < 6000; ++i) {
            if (entries.empty() || random() % 5 < 3) {
                entries.emplace_back(0xffffff00U + random() % hashes, i % 100);
                table.insert(entries.back().first, entries.back().second);
                expected.insert(entries.back());
            } else {
                std::swap(entries[random() % entries.size()], entries.back());
                auto const [key, number] = entries.back();
                entries.pop_back();
                table.erase(key, number);
                auto const [begin, end] = expected.equal_range(key);
                expected.erase(std::find_if(
                    begin, end, [n = number](auto const& each) { return each.second == n; }));
            }
        }
        CHECK(table.size() == expected.size());
        std::set<std::uint32_t> keys;
        for (auto const& [key, number] : expected)
            keys.insert(key);
        for (std::uint32_t const key : keys) {
            numbers all;
            auto const [begin, end] = expected.equal_range(key);
            std::for_each(begin, end, [&](auto const& each) { all.push_back(each.second); });
            std::ranges::sort(all);
            REQUIRE(found(table, key) == all);
        }
    }
}

TEST_CASE("a copy can change, and the table that it was copied from stays as it is")
{
    number_table before;
    for (std::uint32_t i = 0; i < 10'000; ++i)
        before.insert(hash_of(std::to_string(i)), i);
    before.seal();
    number_table after{before};
    for (std::uint32_t i = 0; i < 10'000; i += 7)
        after.erase(hash_of(std::to_string(i)), i);
    after.insert(hash_of("new"), 10'000);
    after.seal();
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        REQUIRE(found(before, hash_of(std::to_string(i))) == numbers{i});
        REQUIRE(found(after, hash_of(std::to_string(i))) == (i % 7 == 0 ? numbers{} : numbers{i}));
    }
    CHECK(found(before, hash_of("new")).empty());
    CHECK(found(after, hash_of("new")) == numbers{10'000});
    CHECK(before.size() == 10'000);
}

TEST_CASE("a hash does not depend on upper and lower case")
{
    CHECK(hash_of("WWW.Example.COM") == hash_of("www.example.com"));
    CHECK(hash_of("www.example.com") != hash_of("www.example.con"));
    CHECK(hash_of("") == hash_of(""));
}

} // namespace cleat::tls::number_table_test
