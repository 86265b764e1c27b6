#include "report/profile.hpp"
#include "report/recordable.hpp"
#include "report/report_text.hpp"
#include "report/unrecorded.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::locks::unrecorded_test {

namespace fs = std::filesystem;

namespace {

// map_when_told is a child: it maps a file at a byte of its parent, says so, and ends with it.
[[noreturn]] void map_when_told(int parent, char const* file)
{
    char word = 0;
    if (::read(parent, &word, 1) == 1 &&
        ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, ::open(file, O_RDONLY | O_CLOEXEC), 0) !=
            MAP_FAILED &&
        ::write(parent, &word, 1) == 1)
        static_cast<void>(!::read(parent, &word, 1));
    ::_exit(0);
}

} // namespace

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

TEST_CASE("a process is named at the second look, and not once its trace is mapped")
{
    fs::path const trace = fs::temp_directory_path() / fmt::format("looked-at-{}", ::getpid());
    fs::create_directories(trace);
    std::ofstream{trace / "1.trace"} << "a trace";
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        map_when_told(ends[1], (trace / "1.trace").c_str());
    }
    ::close(ends[1]);
    unrecorded_search search{trace};
    search.look();
    search.write();
    CHECK(read_unrecorded(trace).empty());
    search.look();
    search.write();
    std::vector<unrecorded_process> const named = read_unrecorded(trace);
    REQUIRE(named.size() == 1);
    CHECK(named[0].pid == child);
    char word = 'm';
    CHECK(::write(ends[0], &word, 1) == 1);
    CHECK(::read(ends[0], &word, 1) == 1);
    search.look();
    search.write();
    CHECK(read_unrecorded(trace).empty());
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
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

TEST_CASE("the surroundings of a process are those of its own files")
{
    constexpr std::string_view limits =
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max cpu time              5                    unlimited            seconds   \n"
        "Max file size             102400               unlimited            bytes     \n";
    using namespace std::string_view_literals;
    surroundings const set = parse_surroundings("A=1\0ASAN_OPTIONS=x=1:y=2\0B=2\0"sv, limits);
    CHECK(set.asan_options == "x=1:y=2");
    CHECK(set.file_size_max == 102400);
    surroundings const free =
        parse_surroundings("MY_ASAN_OPTIONS=x\0"sv, "Max file size    unlimited    unlimited");
    CHECK(free.asan_options.empty());
    CHECK(free.file_size_max == UINT64_MAX);
    CHECK(parse_surroundings("", "").file_size_max == UINT64_MAX);
}

TEST_CASE("a program is judged by the surroundings of its process")
{
    fs::path const program = fs::temp_directory_path() / fmt::format("sanitized-{}", ::getpid());
    fs::copy_file("/bin/sh", program);
    std::ofstream{program, std::ios::binary | std::ios::app} << "__asan_init";
    CHECK(why_not_recorded(program, {}).starts_with("it has AddressSanitizer"));
    surroundings const allowed{.asan_options = "verify_asan_link_order=0"};
    CHECK(why_not_recorded(program, allowed).empty());
    surroundings const limited{
        .asan_options = "verify_asan_link_order=0", .file_size_max = 100 << 10};
    CHECK(why_not_recorded(program, limited).starts_with("no file may be larger than 100 KiB"));
    fs::remove(program);
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
