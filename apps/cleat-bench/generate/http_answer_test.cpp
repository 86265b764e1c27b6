// Each answer is taken whole, and split at every byte.

#include "generate/http_answer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace cleat::bench::http_answer_test {
namespace {

using state = enum http_answer::state;

// read feeds the answer in two parts, split anywhere, and holds that nothing depends on where.
http_answer read(
    std::string const& text, bool ended = false, bool head_only = false,
    std::string_view wanted = {})
{
    http_answer whole{head_only, wanted};
    std::size_t const taken = whole.take(text);
    if (ended)
        whole.end();
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        http_answer split{head_only, wanted};
        std::size_t sum = split.take(std::string_view{text}.substr(0, cut));
        if (sum == cut)
            sum += split.take(std::string_view{text}.substr(cut));
        if (ended)
            split.end();
        REQUIRE(split.state() == whole.state());
        REQUIRE(split.status() == whole.status());
        REQUIRE(split.body() == whole.body());
        REQUIRE(split.closes() == whole.closes());
        REQUIRE(split.has_text() == whole.has_text());
        if (whole.state() == state::whole)
            REQUIRE(sum == taken);
    }
    return whole;
}

TEST_CASE("a body of known length ends with its last byte; what follows is not taken")
{
    std::string const one = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    http_answer const a = read(one);
    CHECK(a.state() == state::whole);
    CHECK(a.status() == 200);
    CHECK(a.body() == 5);
    CHECK(!a.closes());
    http_answer b;
    CHECK(b.take(one + "HTTP/1.1 200") == one.size());
}

TEST_CASE("no body: length 0, 204, 304, and any answer to HEAD")
{
    CHECK(read("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").state() == state::whole);
    CHECK(read("HTTP/1.1 204 No Content\r\n\r\n").state() == state::whole);
    CHECK(read("HTTP/1.1 304 \r\nContent-Length: 10\r\n\r\n").state() == state::whole);
    CHECK(
        read("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", false, true).state() == state::whole);
}

TEST_CASE("chunks, with extensions and a trailer")
{
    http_answer const a = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
                               "5;a=b\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n"
                               "0\r\nDigest: x\r\n\r\n");
    CHECK(a.state() == state::whole);
    CHECK(a.body() == 31);
}

TEST_CASE("a body without a length ends with the connection")
{
    std::string const text = "HTTP/1.0 200 OK\r\n\r\nwhatever comes";
    CHECK(read(text).state() == state::more);
    http_answer const a = read(text, true);
    CHECK(a.state() == state::whole);
    CHECK(a.body() == 14);
    CHECK(a.closes());
}

TEST_CASE("a body of known length that is cut short does not end")
{
    CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", true).state() == state::more);
    CHECK(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", true).state() ==
        state::more);
    CHECK(read("HTTP/1.1 200 OK\r\nConten", true).state() == state::more);
}

TEST_CASE("interim answers are skipped")
{
    http_answer const a = read("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
    CHECK(a.state() == state::whole);
    CHECK(a.status() == 200);
}

TEST_CASE("HTTP/1.0 closes unless it keeps alive, HTTP/1.1 if it says so")
{
    CHECK(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").closes());
    CHECK(!read("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n").closes());
    CHECK(read("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 0\r\n\r\n").closes());
}

TEST_CASE("bytes that are no HTTP answer are refused")
{
    for (char const* text : {
             "SSH-2.0-OpenSSH_9.2\r\n",
             "HTTP/2 200\r\n\r\n",
             "HTTP/1.1 abc OK\r\n\r\n",
             "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
         })
        CHECK(read(text).state() == state::bad);
}

TEST_CASE("a text is found in the body, wherever it is split, and not in the head")
{
    auto const has = [](std::string const& answer, std::string_view text, bool ended = false) {
        return read(answer, ended, false, text).has_text();
    };
    std::string const sized = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nababacaba";
    CHECK(has(sized, "abac"));
    CHECK(has(sized, "ababacaba"));
    CHECK(has(sized, "c"));
    CHECK(has(sized, ""));
    CHECK(!has(sized, "abad"));
    CHECK(!has(sized, "OK"));
    CHECK(!has(sized + "next", "an"));
    // A chunk's end is no part of the body.
    CHECK(
        has("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
            "chunked\r\n\r\n2\r\nhe\r\n1\r\nl\r\n2\r\nlo\r\n0\r\n\r\n",
            "hello"));
    CHECK(has("HTTP/1.1 200 OK\r\n\r\nto the end", "the end", true));
}

TEST_CASE("a head without end is bounded")
{
    http_answer a;
    std::string const line = "X: " + std::string(1000, 'x') + "\r\n";
    a.take("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i != 70 && a.state() == state::more; ++i)
        a.take(line);
    CHECK(a.state() == state::bad);
}

} // namespace
} // namespace cleat::bench::http_answer_test
