#include "report/diff.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace cleat::locks::diff_test {

namespace {

// sampled is a profile of CPU samples alone, so many in each function.
profile sampled(std::vector<std::pair<std::string, std::uint64_t>> const& functions)
{
    profile made;
    made.processes.push_back({.command = "subject"});
    for (auto const& [name, samples] : functions) {
        weights counts;
        counts.cpu = samples;
        made.stacks.push_back({{static_cast<std::uint32_t>(made.functions.size())}, counts});
        made.functions.push_back(name);
        made.total += counts;
    }
    return made;
}

} // namespace

TEST_CASE("code without a name counts as the same code in both runs")
{
    profile const before = sampled({{"0x7fc0339ebb46", 30}, {"0x7fc0339ebb52", 20}, {"work", 50}});
    profile const after = sampled({{"0x7f0000000b46", 50}, {"work", 50}});
    CHECK(diff_text(before, after, 10).find("0x7f") == std::string::npos);
    std::string const less = diff_text(before, sampled({{"0x7f0000000b46", 25}, {"work", 75}}), 10);
    CHECK(less.find("50.0 %    25.0 %   -25.0    (code without a name)") != std::string::npos);
}

TEST_CASE("a function's own share is compared")
{
    std::string const text =
        diff_text(sampled({{"a(int)", 30}, {"b", 70}}), sampled({{"a(int)", 60}, {"b", 40}}), 10);
    CHECK(text.find("30.0 %    60.0 %   +30.0    a\n") != std::string::npos);
    CHECK(text.find("70.0 %    40.0 %   -30.0    b\n") != std::string::npos);
}

} // namespace cleat::locks::diff_test
