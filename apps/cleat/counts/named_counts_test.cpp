#include "counts/named_counts.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

namespace cleat::app::named_counts_test {
namespace {

template <std::size_t N>
std::map<std::string, std::uint64_t> all(named_counts<N> const& counts)
{
    std::map<std::string, std::uint64_t> found;
    counts.for_each([&](std::string_view name, std::uint64_t n) { found[std::string{name}] = n; });
    return found;
}

} // namespace

TEST_CASE("a name gets a place when it is first counted")
{
    auto const counts = std::make_unique<named_counts<4>>();
    CHECK(all(*counts).empty());
    counts->of("X25519").add();
    counts->of("P-256").add(2);
    counts->of("X25519").add();
    CHECK(all(*counts) == std::map<std::string, std::uint64_t>{{"X25519", 2}, {"P-256", 2}});
    counts->clear();
    CHECK(all(*counts) == std::map<std::string, std::uint64_t>{{"X25519", 0}, {"P-256", 0}});
}

TEST_CASE("more names than places are counted together")
{
    auto const counts = std::make_unique<named_counts<2>>();
    for (char const* name : {"a", "b", "c", "d", "a"})
        counts->of(name).add();
    CHECK(all(*counts) == std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 1}, {"other", 2}});
}

TEST_CASE("a long name is cut, and stays one name")
{
    auto const counts = std::make_unique<named_counts<2>>();
    std::string const name(100, 'x');
    counts->of(name).add();
    counts->of(name).add();
    CHECK(all(*counts) == std::map<std::string, std::uint64_t>{{name.substr(0, 55), 2}});
}

TEST_CASE("a place stays where it is")
{
    auto const counts = std::make_unique<named_counts<2>>();
    counted_name& first = counts->of("first");
    counts->of("second").add();
    first.set(7);
    CHECK(&counts->of("first") == &first);
    CHECK(first.value() == 7);
}

} // namespace cleat::app::named_counts_test
