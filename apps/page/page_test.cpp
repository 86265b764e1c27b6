#include "page/page.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace cleat::page::page_test {

namespace {

// between is the text of a page between two others that it has.
std::string_view between(std::string_view page, std::string_view begin, std::string_view end)
{
    std::size_t const first = page.find(begin);
    REQUIRE(first != std::string_view::npos);
    std::string_view const rest = page.substr(first + begin.size());
    REQUIRE(rest.find(end) != std::string_view::npos);
    return rest.substr(0, rest.find(end));
}

} // namespace

TEST_CASE("a title is text, whatever is in it")
{
    std::string const page = to_html({"</title> & {{data}}", "{}", {}, {}, {}});
    CHECK(between(page, "<title>", "</title>") == "&lt;/title&gt; &amp; {{data}}");
}

TEST_CASE("data cannot end their element, and are the same JSON still")
{
    std::string const page = to_html({"t", R"({"a":"</script><!--&"})", {}, {}, {}});
    CHECK(
        between(page, R"(<script type="application/json" id="data">)", "</script>") ==
        R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
}

TEST_CASE("a page's styles and scripts come after those of all pages, and in their order")
{
    std::string const page = to_html({"t", "{}", "p { margin: 1px }", {}, {"first();", "{{b}}"}});
    std::string_view const style = between(page, "<style>", "</style>");
    CHECK(style.find(":root") < style.find("p { margin: 1px }"));
    std::string_view const script = between(page, "'use strict';", "</script>");
    CHECK(script.find("const dom") < script.find("const numbers"));
    CHECK(script.find("const numbers") < script.find("first();{{b}}"));
    CHECK(script.find("first();{{b}}") != std::string_view::npos);
}

TEST_CASE("a library has an element of its own, before the script")
{
    std::string const with = to_html({"t", "{}", {}, "library()", {}});
    std::string const without = to_html({"t", "{}", {}, {}, {}});
    std::string const element = "<script>\nlibrary()\n</script>\n";
    CHECK(with.find(element) < with.find("'use strict';"));
    CHECK(with.size() == without.size() + element.size());
}

TEST_CASE("of a page with a nonce only its own elements run")
{
    document made{"t", "{}", "p {}", "library()", {"first();"}, "a1b2"};
    std::string const page = to_html(made);
    CHECK(
        between(page, "content=\"default-src", "\">") ==
        " 'none'; script-src 'nonce-a1b2'; img-src data:; style-src 'nonce-a1b2'; "
        "connect-src 'self'");
    CHECK(page.find("<script>") == std::string::npos);
    CHECK(page.find("<style>") == std::string::npos);
    CHECK(page.find("<script nonce=\"a1b2\">\nlibrary()") != std::string::npos);
    made.nonce.clear();
    CHECK(to_html(made).find("nonce") == std::string::npos);
    CHECK(to_html(made).find("connect-src") == std::string::npos);
}

} // namespace cleat::page::page_test
