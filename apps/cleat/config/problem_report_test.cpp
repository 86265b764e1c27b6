#include "config/problem_report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::problem_report_test {
namespace {

problem found(problem::severity grade, std::string source, unsigned line, std::string text)
{
    return {grade, {std::move(source), line, 1}, {}, std::move(text), {}, false};
}

std::vector<problem> many(problem::severity grade, std::size_t count)
{
    std::vector<problem> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(found(grade, "c", static_cast<unsigned>(i + 1), "wrong"));
    return all;
}

} // namespace

TEST_CASE("an error behind many warnings is the first line")
{
    std::vector<problem> all = many(problem::severity::warning, 30);
    all.push_back(found(problem::severity::error, "c", 40, "no such user"));
    std::vector<std::string> const lines = problem_report(all);
    REQUIRE(lines.size() == 22);
    CHECK(lines.front() == "c:40:1: error: no such user.");
    CHECK(lines[1] == "c:1:1: warning: wrong.");
    CHECK(lines.back() == "and 10 more warnings");
}

TEST_CASE("errors of one file come in the order of its lines, and files in that of their reading")
{
    std::vector<problem> const all{
        found(problem::severity::error, "b", 7, "seventh"),
        found(problem::severity::error, "a", 1, "of a"),
        found(problem::severity::error, "b", 2, "second"),
        found(problem::severity::error, "--user", 0, "of a flag")};
    CHECK(
        problem_report(all) == std::vector<std::string>{
                                   "b:2:1: error: second.", "b:7:1: error: seventh.",
                                   "a:1:1: error: of a.", "--user: error: of a flag."});
}

TEST_CASE("thousands of errors are counted, and a long one is cut")
{
    std::vector<std::string> const lines = problem_report(many(problem::severity::error, 101));
    REQUIRE(lines.size() == 101);
    CHECK(lines.back() == "and 1 more error");
    std::vector<problem> const long_one{
        found(problem::severity::error, "c", 1, std::string(5000, 'x'))};
    CHECK(problem_report(long_one).front().size() == 2004);
}

TEST_CASE("a terminal obeys no character of a report")
{
    std::vector<problem> const all{found(problem::severity::error, "c", 1, "a\x1b[2Jb")};
    CHECK(problem_report(all).front() == "c:1:1: error: a?[2Jb.");
}

} // namespace cleat::app::problem_report_test
