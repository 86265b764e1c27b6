#include "report/command_line.hpp"
#include "report/run.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <variant>
#include <vector>

namespace cleat::locks::run_test {
namespace fs = std::filesystem;

namespace {

command parsed(std::vector<char const*> words)
{
    words.insert(words.begin(), "cleat-locks");
    return parse_command_line(words);
}

} // namespace

TEST_CASE("a program that does not exist is an error before any file is made")
{
    fs::path const trace = fs::temp_directory_path() / "cleat-locks-none";
    CHECK_THROWS_WITH_AS(
        static_cast<void>(run_traced({.command = {"no-such-program-anywhere"}, .trace = trace})),
        "no-such-program-anywhere: there is no such program", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(run_traced({.command = {"/no/such/program"}, .trace = trace})),
        "/no/such/program: there is no such program", std::runtime_error);
    for (char const* const there : {"/proc/self/maps", "/proc"})
        CHECK_THROWS_WITH_AS(
            static_cast<void>(run_traced({.command = {there}, .trace = trace})),
            doctest::Contains("it is not executable"), std::runtime_error);
    CHECK_FALSE(fs::exists(trace));
}

TEST_CASE("a trace that exists is not overwritten")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(run_traced({.command = {"true"}, .trace = fs::temp_directory_path()})),
        doctest::Contains("exists: remove it, or name another trace with -o"), std::runtime_error);
}

TEST_CASE("all arguments behind -- are the program's")
{
    command const found =
        parsed({"run", "-o", "t", "--hz", "97", "--", "server", "-o", "x", "--hz"});
    REQUIRE(std::holds_alternative<run_request>(found));
    run_request const& request = std::get<run_request>(found);
    CHECK(request.trace == "t");
    CHECK(request.cpu_hz == 97);
    CHECK(request.command == std::vector<std::string>{"server", "-o", "x", "--hz"});
}

TEST_CASE("--no-cpu is no samples")
{
    CHECK(std::get<run_request>(parsed({"run", "--no-cpu", "--", "server"})).cpu_hz == 0);
}

TEST_CASE("a usage error ends with 2, help with 0")
{
    CHECK(std::get<print_request>(parsed({})).exit_code == 2);
    CHECK(std::get<print_request>(parsed({"run"})).exit_code == 2);
    CHECK(std::get<print_request>(parsed({"run", "--hz", "0", "--", "x"})).exit_code == 2);
    CHECK(std::get<print_request>(parsed({"folded", "t", "--what", "luck"})).exit_code == 2);
    CHECK(std::get<print_request>(parsed({"per-operation", "t"})).exit_code == 2);
    CHECK(std::get<print_request>(parsed({"--help"})).exit_code == 0);
    CHECK(std::get<print_request>(parsed({"--version"})).text.starts_with("cleat-locks "));
}

} // namespace cleat::locks::run_test
