#include "admin/accept_header.hpp"

#include <doctest/doctest.h>

namespace cleat::app::accept_header_test {

TEST_CASE("a type has its weight, and one that is not named has none")
{
    constexpr char const* accept = "text/html;level=1;q=0.5, text/plain , text/x;q=0, a/b;q=x";
    CHECK(weight_of("text/html", accept) == 0.5);
    CHECK(weight_of("text/plain", accept) == 1);
    CHECK(weight_of("text/x", accept) == 0);
    CHECK(weight_of("a/b", accept) == 0);
    CHECK(weight_of("text/css", accept) == 0);
}

TEST_CASE("browsers prefer HTML, other clients do not")
{
    for (char const* browser :
         {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
          "text/html, */*", "text/plain;q=0.5, text/html"})
        CHECK_MESSAGE(prefers_html(browser), browser);
    for (char const* other :
         {"", "*/*", "text/plain", "text/html;q=0", "text/html;q=0.3, text/plain",
          "application/json", "text/*"})
        CHECK_FALSE_MESSAGE(prefers_html(other), other);
}

} // namespace cleat::app::accept_header_test
