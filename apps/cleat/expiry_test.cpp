#include "expiry.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::expiry_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr expiry_list::time_point today = std::chrono::sys_days{2030y / 1 / 1};

/// The lines that a list writes, each from "level=" on.
std::vector<std::string> lines_of(expiry_list const& list)
{
    temporary_folder const folder;
    {
        std::unique_ptr<log_sink> const sink = log_sink::to_file(folder.path() / "log").value();
        list.write(logger{*sink, log_level::info});
    }
    std::vector<std::string> lines;
    std::string const all = folder.read("log");
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t const end = all.find('\n', begin);
        lines.push_back(all.substr(begin + rfc3339_size + 1, end - begin - rfc3339_size - 1));
        begin = end + 1;
    }
    return lines;
}

} // namespace

TEST_CASE("soon is within 30 days, or past")
{
    expiry_list const list{today};
    CHECK(list.is_soon(today + days{30}));
    CHECK_FALSE(list.is_soon(today + days{30} + 1s));
    CHECK(list.is_soon(today));
    CHECK(list.is_soon(today - days{10'000}));
}

TEST_CASE("a certificate without an end does not expire soon")
{
    constexpr expiry_list::time_point never = std::chrono::sys_days{9999y / 12 / 31} + 86399s;
    CHECK_FALSE(expiry_list{today}.is_soon(never));
    CHECK_FALSE(expiry_list{}.is_soon(never));
}

TEST_CASE("nothing is written where nothing expires")
{
    CHECK(lines_of(expiry_list{today}).empty());
}

TEST_CASE("the nearest end is the first line, and its level says how near it is")
{
    expiry_list list{today};
    list.note("in-seven-days.pem", today + days{7});
    list.note("over.pem", today - 1s);
    list.note("in-thirty-days.pem", today + days{30});
    list.note("in-a-day.pem", today + days{1});
    list.note("in-eight-days.pem", today + days{7} + 1s);
    list.note("now.pem", today);
    CHECK(
        lines_of(list) ==
        std::vector<std::string>{
            "level=error event=certificate-expired certificate=over.pem "
            "end=2029-12-31T23:59:59Z days=-1",
            "level=error event=certificate-expired certificate=now.pem "
            "end=2030-01-01T00:00:00Z days=0",
            "level=error event=certificate-expires certificate=in-a-day.pem "
            "end=2030-01-02T00:00:00Z days=1",
            "level=warning event=certificate-expires certificate=in-seven-days.pem "
            "end=2030-01-08T00:00:00Z days=7",
            "level=info event=certificate-expires certificate=in-eight-days.pem "
            "end=2030-01-08T00:00:01Z days=7",
            "level=info event=certificate-expires certificate=in-thirty-days.pem "
            "end=2030-01-31T00:00:00Z days=30"});
}

TEST_CASE("the nearest ends are kept whatever the order, and the others are counted")
{
    constexpr int count = static_cast<int>(limits::expiry_lines_max) + 7;
    for (bool const nearest_first : {true, false}) {
        expiry_list list{today};
        for (int i = 0; i < count; ++i) {
            int const day = nearest_first ? i : count - 1 - i;
            list.note(std::to_string(day) + ".pem", today + days{day});
        }
        std::vector<std::string> const lines = lines_of(list);
        REQUIRE(lines.size() == limits::expiry_lines_max + 1);
        for (std::size_t i = 0; i < limits::expiry_lines_max; ++i)
            CHECK(
                lines[i].find(" certificate=" + std::to_string(i) + ".pem ") != std::string::npos);
        CHECK(lines.back() == "level=info event=certificates-expire more=7 within_days=30");
    }
}

TEST_CASE("as many certificates as there are lines are all named")
{
    expiry_list list{today};
    for (std::size_t i = 0; i < limits::expiry_lines_max; ++i)
        list.note("same.pem", today);
    CHECK(lines_of(list).size() == limits::expiry_lines_max);
}

} // namespace cleat::app::expiry_test
