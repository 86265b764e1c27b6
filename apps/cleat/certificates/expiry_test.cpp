#include "certificates/expiry.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::expiry_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr expiry_list::time_point today = std::chrono::sys_days{2030y / 1 / 1};
constexpr days year{365};

/// The lines that are written, each from "level=" on.
std::vector<std::string> lines_of(std::function<void(logger const&)> const& write)
{
    temporary_folder const folder;
    {
        std::unique_ptr<log_sink> const sink = log_sink::to_file(folder.path() / "log").value();
        write(logger{*sink, log_level::info});
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

std::vector<std::string> lines_of(expiry_list const& list)
{
    return lines_of([&](logger const& log) { list.write(log); });
}

/// Certificates, and the events and certificates that one look at them logs: "expires a.pem".
struct certificates_looked_at
{
    std::vector<std::string> look(expiry_log::time_point now)
    {
        std::vector<std::string> const lines = lines_of([&](logger const& to) {
            log.look(
                [&](expiry_log::each_certificate const& use) {
                    for (auto const& [origin, end] : ends)
                        use([&] { return origin; }, {end, lifetime});
                },
                now, to);
        });
        std::vector<std::string> found;
        for (std::string const& line : lines) {
            std::size_t const event = line.find("event=certificate-") + 18;
            std::size_t const name = line.find("certificate=") + 12;
            found.push_back(
                line.substr(event, line.find(' ', event) - event) + " " +
                line.substr(name, line.find(' ', name) - name));
        }
        return found;
    }

    std::map<std::string, expiry_log::time_point> ends;
    std::chrono::seconds lifetime = year;
    expiry_log log;
};

using found = std::vector<std::string>;

expiry_stage stage_with(std::chrono::seconds left, std::chrono::seconds lifetime)
{
    return stage_of({today + left, lifetime}, today);
}

} // namespace

TEST_CASE("a stage begins 30 days, 7 days and one day before the end, and at the end")
{
    for (days const lifetime : {days{90}, days{200}, days{400}}) {
        CHECK(stage_with(days{30} + 1s, lifetime) == expiry_stage::far);
        CHECK(stage_with(days{30}, lifetime) == expiry_stage::soon);
        CHECK(stage_with(days{7} + 1s, lifetime) == expiry_stage::soon);
        CHECK(stage_with(days{7}, lifetime) == expiry_stage::sooner);
        CHECK(stage_with(days{1} + 1s, lifetime) == expiry_stage::sooner);
        CHECK(stage_with(days{1}, lifetime) == expiry_stage::last);
        CHECK(stage_with(0s, lifetime) == expiry_stage::over);
        CHECK(stage_with(-days{10'000}, lifetime) == expiry_stage::over);
    }
}

TEST_CASE("a stage does not begin before a third of the lifetime is left")
{
    for (days const lifetime : {days{45}, days{47}, days{64}}) {
        CHECK(stage_with(days{30}, lifetime) == expiry_stage::far);
        CHECK(stage_with(days{7} + 1s, lifetime) == expiry_stage::far);
        CHECK(stage_with(days{7}, lifetime) == expiry_stage::sooner);
        CHECK(stage_with(days{1}, lifetime) == expiry_stage::last);
    }
    std::chrono::seconds const six_days = 160h; // Those of Let's Encrypt.
    CHECK(stage_with(days{6}, six_days) == expiry_stage::far);
    CHECK(stage_with(days{1} + 1s, six_days) == expiry_stage::far);
    CHECK(stage_with(days{1}, six_days) == expiry_stage::last);
    CHECK(stage_with(0s, six_days) == expiry_stage::over);
}

TEST_CASE("the last stage is the last sixth of a lifetime of less than six days")
{
    CHECK(stage_with(12h + 1s, days{3}) == expiry_stage::far);
    CHECK(stage_with(12h, days{3}) == expiry_stage::last);
    CHECK(stage_with(4h + 1s, days{1}) == expiry_stage::far);
    CHECK(stage_with(4h, days{1}) == expiry_stage::last);
    CHECK(stage_with(10min + 1s, 1h) == expiry_stage::far);
    CHECK(stage_with(10min, 1h) == expiry_stage::last);
    CHECK(stage_with(1s, 0s) == expiry_stage::far);
    CHECK(stage_with(0s, 0s) == expiry_stage::over);
}

TEST_CASE("the end of a certificate without an end is far")
{
    constexpr expiry_list::time_point never = std::chrono::sys_days{9999y / 12 / 31} + 86399s;
    CHECK(stage_of({never, never - today}, today) == expiry_stage::far);
}

TEST_CASE("nothing is written where nothing expires")
{
    CHECK(lines_of(expiry_list{today}).empty());
}

TEST_CASE("the nearest end is the first line, and its level says how near it is")
{
    expiry_list list{today};
    list.note("in-seven-days.pem", {today + days{7}, year});
    list.note("over.pem", {today - 1s, year});
    list.note("in-thirty-days.pem", {today + days{30}, year});
    list.note("in-a-day.pem", {today + days{1}, year});
    list.note("in-eight-days.pem", {today + days{7} + 1s, year});
    list.note("now.pem", {today, year});
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
            list.note(std::to_string(day) + ".pem", {today + days{day}, year});
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
        list.note("same.pem", {today, year});
    CHECK(lines_of(list).size() == limits::expiry_lines_max);
}

TEST_CASE("a certificate is logged once at each stage, as time passes")
{
    certificates_looked_at c;
    c.ends = {{"a.pem", today + days{40}}};
    CHECK(c.look(today) == found{});
    CHECK(c.look(today + days{10}) == found{"expires a.pem"});
    CHECK(c.look(today + days{11}) == found{});
    CHECK(c.look(today + days{33}) == found{"expires a.pem"});
    CHECK(c.look(today + days{34}) == found{});
    CHECK(c.look(today + days{39}) == found{"expires a.pem"});
    CHECK(c.look(today + days{40}) == found{"expired a.pem"});
    CHECK(c.look(today + days{50}) == found{});
}

TEST_CASE("a six-day certificate that is renewed in time is never logged")
{
    certificates_looked_at c;
    c.lifetime = 160h;
    for (int day = 0; day < 60; ++day) {
        c.ends = {{"a.pem", today + days{day / 4 * 4} + 160h}}; // Renewed each fourth day.
        CHECK(c.look(today + days{day}) == found{});
    }
    CHECK(c.look(today + days{56} + 135h) == found{});
    CHECK(c.look(today + days{56} + 136h) == found{"expires a.pem"});
    CHECK(c.look(today + days{56} + 160h) == found{"expired a.pem"});
}

TEST_CASE("stages that passed between two looks are one line")
{
    certificates_looked_at c;
    c.ends = {{"a.pem", today + days{40}}};
    CHECK(c.look(today) == found{});
    CHECK(c.look(today + days{50}) == found{"expired a.pem"});
}

TEST_CASE("after a reload only certificates are logged that are new, or have another end")
{
    certificates_looked_at c;
    c.ends = {{"a.pem", today + days{3}}, {"b.pem", today + days{3}}};
    CHECK(c.look(today) == found{"expires a.pem", "expires b.pem"});
    c.ends = {{"a.pem", today + days{3}}, {"b.pem", today + days{5}}, {"c.pem", today}};
    CHECK(c.look(today) == found{"expired c.pem", "expires b.pem"});
    c.ends = {{"a.pem", today + days{90}}};
    CHECK(c.look(today) == found{});
}

TEST_CASE("a CRL is logged once, when it becomes stale")
{
    crl_log crls;
    std::vector<crl_ending> const present{
        {{"late.crl", today + 2h}, true}, {{"old.crl", today - 1h}}, {{"soon.crl", today + 1h}}};
    auto const look = [&](auto time) {
        return lines_of([&](logger const& log) { crls.look(present, time, log); });
    };
    CHECK(look(today).empty());
    CHECK(crls.next() == today + 1h);
    CHECK(
        look(today + 1h) ==
        std::vector<std::string>{
            "level=error event=crl-stale crl=soon.crl end=2030-01-01T01:00:00Z clients=refused "
            "cure=\"fetch a new one, and reload\""});
    CHECK(look(today + 1h).empty());
    CHECK(crls.next() == today + 2h);
    CHECK(
        look(today + 3h) ==
        std::vector<std::string>{
            "level=warning event=crl-stale crl=late.crl end=2030-01-01T02:00:00Z clients=let-in "
            "cure=\"fetch a new one, and reload\""});
    CHECK_FALSE(crls.next());
}

TEST_CASE("a reload with a new CRL has nothing to log, and the loading of a stale one has warned")
{
    crl_log crls;
    std::vector<crl_ending> const before{{{"a.crl", today + 1h}}};
    std::vector<crl_ending> const renewed{{{"a.crl", today + 9h}}};
    std::vector<crl_ending> const stale{{{"b.crl", today - 1h}}};
    auto const look = [&](std::vector<crl_ending> const& present, auto time) {
        return lines_of([&](logger const& log) { crls.look(present, time, log); });
    };
    CHECK(look(before, today).empty());
    CHECK(look(renewed, today + 2h).empty());
    CHECK(crls.next() == today + 9h);
    CHECK(look(stale, today + 2h).empty());
    CHECK_FALSE(crls.next());
}

} // namespace cleat::app::expiry_test
