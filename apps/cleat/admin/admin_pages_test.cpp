#include "admin/admin_pages.hpp"

#include <doctest/doctest.h>

namespace cleat::app::admin_pages_test {

TEST_CASE("a path is found with or without a query")
{
    REQUIRE(find_path("/metrics"));
    CHECK(find_path("/metrics?x=1")->page == admin_page::metrics);
    CHECK(find_path("/")->page == admin_page::root);
    for (char const* unknown : {"", "/metrics/", "/Metrics", "metrics", "//", "/healthz%00"})
        CHECK_MESSAGE(find_path(unknown) == nullptr, unknown);
}

TEST_CASE("the list names every path with its method")
{
    for (admin_path const& each : admin_paths()) {
        std::string const line = (each.is_command ? "POST " : "GET  ") + std::string{each.path};
        CHECK_MESSAGE(paths_text().find(line) != std::string::npos, line);
    }
}

TEST_CASE("a reason may have any bytes")
{
    CHECK(problem_json("a \"b\"\n") == "{\"error\": \"a \\\"b\\\"\\u000a\"}\n");
}

TEST_CASE("a query's value is found by its whole key")
{
    CHECK(value_in("/a?level=2", "level") == "2");
    CHECK(value_in("/a?x=1&level=2&y", "level") == "2");
    CHECK(value_in("/a?level=", "level").empty());
    CHECK(value_in("/a?levels=2&le=3&level", "level").empty());
    CHECK(value_in("/a", "level").empty());
}

} // namespace cleat::app::admin_pages_test
