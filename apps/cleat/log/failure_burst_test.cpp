#include "log/failure_burst.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>
#include <cleat/core/text_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

namespace cleat::app::failure_burst_test {
namespace {

constexpr std::string_view event = "handshake-failed";

struct scene
{
    explicit scene(int lines = 3, std::chrono::milliseconds interval = std::chrono::hours{1})
        : burst{worker, interval}
    {
        burst.follow(log, lines);
    }

    // How many of so many failures have a line.
    template <class Reason>
    int lines_of(int failures, Reason why, std::string_view what = event)
    {
        int lines = 0;
        for (int i = 0; i != failures; ++i)
            lines += burst.admits(log_level::warning, what, why) ? 1 : 0;
        return lines;
    }

    [[nodiscard]] std::string text() const { return folder.read("log"); }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::warning, 1};
    net::worker worker;
    failure_burst burst;
};

} // namespace

TEST_CASE("each reason of each event has its first lines, and one with the count of the rest")
{
    scene s;
    CHECK(s.lines_of(1000, error::no_shared_cipher) == 3);
    CHECK(s.lines_of(2, error::no_shared_version) == 2);
    CHECK(s.lines_of(5, error::no_shared_cipher, "another-event") == 3);
    CHECK(s.lines_of(4, error_code{ECONNREFUSED, boost::system::system_category()}) == 3);
    CHECK(s.lines_of(4, error_code{EHOSTUNREACH, boost::system::system_category()}) == 3);
    CHECK(s.lines_of(4, close_reason::client_truncated, "connection-closed") == 3);
    CHECK(s.text().empty());
    s.burst.end();
    std::string const text = s.text();
    CHECK(std::ranges::count(text, '\n') == 5);
    for (std::string_view const line :
         {"level=warning event=failures-not-logged worker=1 of_event=handshake-failed "
          "reason=no-shared-cipher count=997\n",
          " of_event=another-event reason=no-shared-cipher count=2\n",
          " reason=\"Connection refused\" count=1\n", " reason=\"No route to host\" count=1\n",
          " of_event=connection-closed reason=client-truncated count=1\n"})
        CHECK(contains(text, line));
}

TEST_CASE("the next interval has lines again, and begins by itself")
{
    scene s{1, std::chrono::milliseconds{1}};
    CHECK(s.lines_of(3, error::no_shared_cipher) == 1);
    struct stopper : deadline
    {
        explicit stopper(net::worker& w)
            : deadline{[](deadline& d) noexcept { static_cast<stopper&>(d).worker.stop(); }}
            , worker{w}
        {
        }
        net::worker& worker;
    } stop{s.worker};
    s.worker.arm(stop, std::chrono::milliseconds{20});
    s.worker.run();
    CHECK(contains(s.text(), " reason=no-shared-cipher count=2\n"));
    CHECK(s.lines_of(3, error::no_shared_cipher) == 1);
}

TEST_CASE("a reload ends the interval, and its number holds from then on")
{
    scene s{2};
    CHECK(s.lines_of(5, error::no_shared_cipher) == 2);
    s.burst.follow(s.log, 0);
    CHECK(contains(s.text(), " reason=no-shared-cipher count=3\n"));
    CHECK(s.lines_of(5, error::no_shared_cipher) == 5);
    s.burst.follow(s.log, 1);
    CHECK(s.lines_of(5, error::no_shared_cipher) == 1);
}

TEST_CASE("lines of info use up no line of a warning with the same reason")
{
    scene s;
    logger const all{*s.sink, log_level::info, 1};
    s.burst.follow(all, 3);
    for (int i = 0; i != 100; ++i)
        static_cast<void>(s.burst.admits(log_level::info, event, error::handshake_timeout));
    CHECK(s.lines_of(5, error::handshake_timeout) == 3);
    s.burst.end();
    std::string const text = s.text();
    for (std::string_view const line :
         {"level=info event=failures-not-logged worker=1 of_event=handshake-failed "
          "reason=handshake-timeout count=97\n",
          "level=warning event=failures-not-logged worker=1 of_event=handshake-failed "
          "reason=handshake-timeout count=2\n"})
        CHECK(contains(text, line));
}

TEST_CASE("0 is no limit")
{
    scene s{0};
    CHECK(s.lines_of(1000, error::no_shared_cipher) == 1000);
    s.burst.end();
    CHECK(s.text().empty());
}

TEST_CASE("more reasons than there are places share one")
{
    scene s;
    int const reasons = static_cast<int>(limits::failure_reasons_max) + 50;
    int lines = 0;
    for (int i = 1; i <= reasons; ++i)
        lines += s.lines_of(3, error_code{i, boost::system::system_category()});
    CHECK(lines == static_cast<int>(limits::failure_reasons_max) * 3);
    s.burst.end();
    CHECK(contains(s.text(), " reason=other count=150\n"));
}

TEST_CASE("reasons that share a place are reported with the most severe level of them")
{
    scene s;
    for (int i = 1; i <= static_cast<int>(limits::failure_reasons_max); ++i)
        CHECK(s.burst.admits(
            log_level::info, event, error_code{i, boost::system::system_category()}));
    CHECK(s.lines_of(5, error::no_shared_cipher) == 2); // The place has one line already.
    s.burst.end();
    CHECK(contains(s.text(), "level=warning event=failures-not-logged worker=1"));
    CHECK(contains(s.text(), " reason=other count=3\n"));
}

} // namespace cleat::app::failure_burst_test
