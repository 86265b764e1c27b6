#include "admin/admin_pages.hpp"
#include "admin/server_order.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

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

TEST_CASE("a value's escapes are replaced")
{
    CHECK(decoded("%5B::1%5d:80") == "[::1]:80");
    CHECK(decoded("a+b%2") == "a+b%2");
    CHECK(decoded("%zz%") == "%zz%");
    CHECK(decoded("").empty());
}

TEST_CASE("an order names a server, and what changes")
{
    std::optional<server_order> const drain =
        server_order_in("/server?upstream=app&server=%5B10.0.0.1%5D:80&state=drain");
    REQUIRE(drain);
    CHECK(drain->upstream == "app");
    CHECK(drain->server == "[10.0.0.1]:80");
    CHECK(drain->is_drained == true);
    CHECK_FALSE(drain->weight);
    std::string const one = "/server?upstream=app&server=/s";
    CHECK(server_order_in(one + "&state=ready&weight=7")->weight == 7);
    CHECK(server_order_in(one + "&weight=configured")->weight == 0);
    CHECK_FALSE(server_order_in(one + "&weight=7")->is_drained);
    for (char const* rest :
         {"", "&state=", "&state=down", "&weight=0", "&weight=1001", "&weight=x", "&weight=1x",
          "&state=drain&weight=-1"})
        CHECK_MESSAGE(!server_order_in(one + rest), rest);
    CHECK_FALSE(server_order_in("/server?server=/s&state=drain"));
    CHECK_FALSE(server_order_in("/server?upstream=app&state=drain"));
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
