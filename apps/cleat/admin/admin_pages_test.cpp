#include "admin/admin_pages.hpp"
#include "admin/server_order.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

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

TEST_CASE("a key that a query has twice is found")
{
    CHECK(repeated_key("/a?level=1&level=2") == "level");
    CHECK(repeated_key("/a?x=1&level=1&y&level") == "level");
    for (char const* once : {"/a", "/a?", "/a?level=1", "/a?level=1&levels=1&&", "/level?level=1"})
        CHECK_MESSAGE(repeated_key(once).empty(), once);
}

TEST_CASE("a target is a path, a URL or for OPTIONS a star")
{
    auto const path = [](std::string_view method, std::string_view text) {
        return target_of(method, text).path;
    };
    CHECK(path("GET", "/metrics?x=1") == "/metrics?x=1");
    CHECK_FALSE(target_of("GET", "/metrics").host);
    CHECK(path("GET", "http://localhost:9443/metrics?x") == "/metrics?x");
    CHECK(target_of("GET", "HTTP://[::1]:9443/metrics").host == "[::1]:9443");
    CHECK(path("GET", "http://localhost") == "/");
    CHECK(path("GET", "http://localhost?x=1") == "/?x=1");
    CHECK(path("OPTIONS", "*") == "*");
    CHECK(path("OPTIONS", "http://localhost") == "*");
    CHECK(path("OPTIONS", "http://localhost/") == "/");
    for (char const* none :
         {"", "*", "metrics", "localhost:9443", "https://localhost/", "http://", "http:///metrics",
          "http://user@localhost/metrics", "http:/metrics"})
        CHECK_MESSAGE(path("GET", none).empty(), none);
}

TEST_CASE("the reference has a row for each path, with its methods")
{
    std::ifstream file{CLEAT_ADMIN_PAGE};
    std::string const text{std::istreambuf_iterator{file}, {}};
    std::size_t rows = 0;
    std::string_view const mark = "\n| `/";
    for (std::size_t row = text.find(mark); row != text.npos; row = text.find(mark, row + 1))
        ++rows;
    CHECK(rows == admin_paths().size());
    for (admin_path const& each : admin_paths()) {
        std::string const row =
            fmt::format("\n| `{}` | {} | ", each.path, each.is_command ? "POST" : "GET, HEAD");
        CHECK_MESSAGE(text.find(row) != text.npos, row);
    }
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
