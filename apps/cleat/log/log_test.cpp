#include "log/log.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace cleat::app::log_test {
namespace {

// A log whose lines can be read back.
struct written
{
    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::info, 0};

    [[nodiscard]] std::string lines() const { return folder.read("log"); }

    /// without_time is the only line, from "level=" on.
    [[nodiscard]] std::string without_time() const
    {
        std::string const all = lines();
        REQUIRE(std::count(all.begin(), all.end(), '\n') == 1);
        REQUIRE(all.back() == '\n');
        REQUIRE(all.size() > rfc3339_size + 2);
        CHECK(all[rfc3339_size - 1] == 'Z');
        CHECK(all[rfc3339_size] == ' ');
        return all.substr(rfc3339_size + 1, all.size() - rfc3339_size - 2);
    }
};

} // namespace

TEST_CASE("an event is one line of key=value")
{
    written w;
    w.log.info("handshake-failed")
        .add("peer", "127.0.0.1:1234")
        .add("reason", error::no_shared_cipher)
        .add("bytes", std::uint64_t{18446744073709551615U})
        .add("lowest", std::numeric_limits<std::int64_t>::min())
        .add("resumed", false);
    CHECK(
        w.without_time() ==
        "level=info event=handshake-failed worker=0 peer=127.0.0.1:1234 reason=no-shared-cipher "
        "bytes=18446744073709551615 lowest=-9223372036854775808 resumed=false");
}

TEST_CASE("time is UTC with milliseconds")
{
    using namespace std::chrono;
    sys_time<milliseconds> const when =
        sys_days{year{2026} / 11 / 21} + hours{1} + minutes{2} + seconds{3} + milliseconds{456};
    auto const text = [](sys_time<milliseconds> t) {
        std::array<char, rfc3339_size> const chars = format_rfc3339(t);
        return std::string{chars.data(), chars.size()};
    };
    CHECK(text(when) == "2026-11-21T01:02:03.456Z");
    CHECK(
        text(sys_days{year{2024} / 2 / 29} + hours{24} - milliseconds{1}) ==
        "2024-02-29T23:59:59.999Z");
    CHECK(text(sys_time<milliseconds>{}) == "1970-01-01T00:00:00.000Z");
    CHECK(text(sys_time<milliseconds>{milliseconds{-1}}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a threshold drops lines of lower levels")
{
    written w;
    logger const quiet{*w.sink, log_level_of(1).value()};
    quiet.error("a");
    quiet.warning("b");
    quiet.info("c");
    quiet.debug("d");
    std::string const all = w.lines();
    CHECK(all.find("level=error event=a\n") != std::string::npos);
    CHECK(all.find("level=warning event=b\n") != std::string::npos);
    CHECK(std::count(all.begin(), all.end(), '\n') == 2);

    logger const silent{*w.sink, log_level_of(0).value()};
    silent.error("e").add("key", "value");
    silent.line(log_level::silent, "f");
    logger{}.error("g").add("key", 1);
    CHECK(w.lines() == all);
    CHECK(log_level_of(2) == log_level::info);
    CHECK(log_level_of(3) == log_level::debug);
    CHECK_FALSE(log_level_of(4).has_value());
    CHECK_FALSE(log_level_of(-1).has_value());
}

TEST_CASE("a hostile name cannot forge a line or a field")
{
    written w;
    w.log.info("unknown-name")
        .add("sni", "x\n2026-01-01T00:00:00.000Z level=info event=granted\r")
        .add("next", "a\" reason=\"none\\");
    CHECK(
        w.without_time() == "level=info event=unknown-name worker=0 "
                            "sni=\"x\\n2026-01-01T00:00:00.000Z level=info event=granted\\r\" "
                            "next=\"a\\\" reason=\\\"none\\\\\"");
}

TEST_CASE("every byte is written as harmless ASCII")
{
    std::string every;
    for (int c = 0; c != 256; ++c) {
        CAPTURE(c);
        written w;
        w.log.info("e").add("v", std::string_view{std::string(1, static_cast<char>(c))});
        std::string const line = w.without_time();
        CHECK(std::all_of(line.begin(), line.end(), [](char x) { return x >= ' ' && x < 0x7f; }));
        CHECK(line.find("=level") == std::string::npos);
        // No two bytes look the same in the log.
        CHECK(every.find(line + '\n') == std::string::npos);
        every += line + '\n';
    }
    CHECK(every.find("v=\"\\u0000\"\n") != std::string::npos);
    CHECK(every.find("v=\"\\u007f\"\n") != std::string::npos);
    CHECK(every.find("v=\"\\u00ff\"\n") != std::string::npos);
    CHECK(every.find("v=\" \"\n") != std::string::npos);
    CHECK(every.find("v=\"=\"\n") != std::string::npos);
    CHECK(every.find("v=:\n") != std::string::npos);
}

TEST_CASE("an empty value is written")
{
    written w;
    w.log.info("e").add("sni", "").add("alpn", std::string_view{}).add("n", 1);
    CHECK(w.without_time() == "level=info event=e worker=0 sni=\"\" alpn=\"\" n=1");
}

TEST_CASE(
    "a long value is cut between characters, the fields behind it stay, and the line is marked")
{
    written w;
    w.log.info("e").add("sni", std::string(5000, '\1')).add("reason", "closed");
    std::string const line = w.without_time();
    CHECK(line.starts_with("level=info event=e worker=0 sni=\"\\u0001\\u0001"));
    CHECK(line.ends_with("\\u0001\" reason=closed truncated=true"));
    CHECK(line.size() < limits::log_value_max + 100);
}

TEST_CASE("a value is whole up to the limit, and cut beyond it")
{
    for (bool const quoted : {false, true}) {
        written whole;
        written cut;
        std::string value(limits::log_value_max, quoted ? ' ' : 'a');
        whole.log.info("e").add("v", value);
        cut.log.info("e").add("v", value + value[0]);
        CHECK(cut.without_time() == whole.without_time() + " truncated=true");
    }
}

TEST_CASE("a line of any number of fields stays within its bound and ends as it should")
{
    // Fields of every length reach the end of the line.
    for (std::size_t length = 1; length != 80; ++length) {
        CAPTURE(length);
        written w;
        {
            log_line line = w.log.info("e");
            for (int i = 0; i != 400; ++i)
                line.add("key", std::string(length, '"'));
        }
        std::string const line = w.lines();
        CHECK(line.size() <= limits::log_line_max);
        CHECK(line.ends_with("\" truncated=true\n"));
        CHECK(line.size() > limits::log_line_max - 2 * length - 40);
    }
}

TEST_CASE("a system error is logged as its message")
{
    written w;
    w.log.warning("e").add("reason", make_error_code(boost::system::errc::connection_refused));
    CHECK(w.without_time() == "level=warning event=e worker=0 reason=\"Connection refused\"");
}

TEST_CASE("each line has its worker's number")
{
    written w;
    w.log.for_worker(7).info("e");
    CHECK(w.without_time() == "level=info event=e worker=7");
}

TEST_CASE("a sink's level holds for each logger of it, until it has none again")
{
    auto const sink = log_sink::to_descriptor(2);
    logger const quiet{*sink, log_level::warning};
    CHECK(setting_of(quiet.present_level()) == 1);
    sink->set_level(static_cast<int>(log_level::info));
    CHECK(quiet.wants(log_level::info));
    CHECK(setting_of(quiet.present_level()) == 2);
    sink->set_level(static_cast<int>(log_level::silent));
    CHECK(!quiet.wants(log_level::error));
    CHECK(setting_of(quiet.present_level()) == 0);
    sink->set_level(log_sink::own_levels);
    CHECK(quiet.wants(log_level::warning));
    CHECK(!quiet.wants(log_level::info));
}

} // namespace cleat::app::log_test
