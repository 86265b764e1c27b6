#include "upstream/ejection.hpp"

#include <doctest/doctest.h>

namespace cleat::app::ejection_test {

using namespace std::chrono_literals;

constexpr ejection_rule rule{3, 10s};
constexpr ejection::time_point start{};

TEST_CASE("a server is left out after failures in a row, and no earlier")
{
    ejection server;
    CHECK_FALSE(server.failed(start, rule, false));
    CHECK_FALSE(server.failed(start, rule, false));
    CHECK_FALSE(server.succeeded());
    CHECK_FALSE(server.failed(start, rule, false));
    CHECK_FALSE(server.failed(start, rule, false));
    CHECK(server.serves(start));
    CHECK(server.failed(start, rule, false));
    CHECK_FALSE(server.serves(start));
    CHECK_FALSE(server.serves(start + 9999ms));
    CHECK(server.serves(start + 10s));
}

TEST_CASE("one connection tries a server that was left out, and no other until it has ended")
{
    ejection server;
    CHECK_FALSE(server.began());
    for (int i = 0; i < 3; ++i)
        server.failed(start, rule, false);
    CHECK(server.began());
    CHECK_FALSE(server.serves(start + 10s));
    CHECK_FALSE(server.began());
    server.ended(); // The client has gone, say.
    CHECK(server.serves(start + 10s));
    CHECK(server.began());
    CHECK(server.succeeded());
    server.ended();
    CHECK(server.serves(start));
    CHECK_FALSE(server.began());
}

TEST_CASE("each try that fails doubles the time, up to eight times the first")
{
    ejection server;
    for (int i = 0; i < 3; ++i)
        server.failed(start, rule, false);
    ejection::time_point now = start + 10s;
    for (auto const expected : {20s, 40s, 80s, 80s}) {
        REQUIRE(server.serves(now));
        CHECK(server.began());
        CHECK_FALSE(server.failed(now, rule, true));
        server.ended();
        CHECK_FALSE(server.serves(now + expected - 1ms));
        now += expected;
    }
    CHECK(server.serves(now));
    CHECK(server.succeeded());
    for (int i = 0; i < 3; ++i)
        server.failed(now, rule, false);
    CHECK(server.serves(now + 10s)); // The time begins anew.
}

TEST_CASE("failures of connections that began before the server was left out change nothing")
{
    ejection server;
    for (int i = 0; i < 100; ++i)
        server.failed(start, rule, false);
    CHECK(server.serves(start + 10s));
    CHECK(server.failures() == 3);
}

TEST_CASE("with the number 0 a server is never left out")
{
    ejection server;
    for (int i = 0; i < 1000; ++i)
        CHECK_FALSE(server.failed(start, {0, 10s}, false));
    CHECK(server.serves(start));
}

} // namespace cleat::app::ejection_test
