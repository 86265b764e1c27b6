#include "log/line_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace cleat::app::line_text_test {

TEST_CASE("the same fields are logfmt or a JSON object")
{
    auto const text = [](line_form form) {
        line_text line{form};
        line.add("name", "www.example.org");
        line.add("words", "a \"b\"\n\xff");
        line.add("bytes", std::uint64_t{18446744073709551615U});
        line.add("resumed", false);
        line.add_bare("duration_ms", "1.250");
        return std::string{line.end(true)};
    };
    CHECK(
        text(line_form::logfmt) ==
        "name=www.example.org words=\"a \\\"b\\\"\\n\\u00ff\" bytes=18446744073709551615 "
        "resumed=false duration_ms=1.250\n");
    CHECK(
        text(line_form::json) ==
        "{\"name\":\"www.example.org\",\"words\":\"a \\\"b\\\"\\n\\u00ff\","
        "\"bytes\":18446744073709551615,\"resumed\":false,"
        "\"duration_ms\":1.250}\n");
}

TEST_CASE("a head comes before the fields, as the log daemon wants it")
{
    line_text json{line_form::json, "<30>cleat[1]: "};
    json.add("k", "v");
    CHECK(json.end(false) == "<30>cleat[1]: {\"k\":\"v\"}");
    line_text logfmt{line_form::logfmt, "<30>cleat[1]: "};
    logfmt.add("k", "v");
    CHECK(logfmt.end(false) == "<30>cleat[1]: k=v");
    line_text time{line_form::logfmt, "2026-11-21T01:02:03.456Z", true};
    time.add("k", "v");
    CHECK(time.end(false) == "2026-11-21T01:02:03.456Z k=v");
}

TEST_CASE("a line that is too long stays JSON, and says so")
{
    for (std::size_t length = 1; length != 80; ++length) {
        CAPTURE(length);
        line_text line{line_form::json};
        for (int i = 0; i != 400; ++i)
            line.add("key", std::string(length, '"'));
        std::string_view const text = line.end(true);
        CHECK(text.size() <= limits::log_line_max);
        CHECK(text.ends_with("\\\"\",\"truncated\":true}\n"));
    }
    line_text line{line_form::json};
    line.add("only", std::string(3000, 'x')); // Cut, not left out.
    CHECK(line.end(false) == "{\"only\":\"" + std::string(512, 'x') + "\",\"truncated\":true}");
}

} // namespace cleat::app::line_text_test
