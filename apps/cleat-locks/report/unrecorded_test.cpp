#include "report/profile.hpp"
#include "report/report_text.hpp"
#include "report/unrecorded.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace cleat::locks::unrecorded_test {

namespace fs = std::filesystem;

TEST_CASE("processes without the recorder are read as they were written")
{
    std::vector<unrecorded_process> const read =
        parse_unrecorded("x\n" + text_of({{7, "a b", "static"}, {8, "c", ""}}) + "9\tcut");
    REQUIRE(read.size() == 2);
    CHECK(read[0].pid == 7);
    CHECK(read[0].program == "a b");
    CHECK(read[0].why == "static");
    CHECK(read[1].why.empty());
}

TEST_CASE("a file that cannot be read names no process")
{
    fs::path const trace = fs::temp_directory_path() / fmt::format("unrecorded-{}", ::getpid());
    fs::create_directories(trace / unrecorded_file); // Its reading fails, and not its opening.
    CHECK(read_unrecorded(trace).empty());
    fs::remove_all(trace);
}

TEST_CASE("a search that has found nothing leaves no file of an earlier write")
{
    fs::path const trace = fs::temp_directory_path() / fmt::format("withdrawn-{}", ::getpid());
    fs::create_directories(trace);
    std::ofstream{trace / unrecorded_file} << text_of({{7, "a", "static"}});
    REQUIRE(read_unrecorded(trace).size() == 1);
    unrecorded_search{trace}.write();
    CHECK(read_unrecorded(trace).empty());
    fs::remove_all(trace);
}

TEST_CASE("a report names the programs that were not recorded, each once")
{
    profile recorded;
    recorded.unrecorded = {{7, "a", "it is static"}, {8, "a", "it is static"}, {9, "b", ""}};
    std::string const text = report_text(recorded, 5);
    CHECK(text.find("NOT RECORDED: a, 2 processes: it is static\n") != std::string::npos);
    CHECK(text.find("NOT RECORDED: b, process 9\n") != std::string::npos);
}

} // namespace cleat::locks::unrecorded_test
