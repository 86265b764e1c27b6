#include "inspect/json_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::json_text_test {

TEST_CASE("a text is in quotes, with what JSON does not allow escaped")
{
    CHECK(json_string("site.pem") == "\"site.pem\"");
    CHECK(json_string("a\"b\\c\n\x1b") == R"("a\"b\\c\u000a\u001b")");
    CHECK(json_string("").size() == 2);
}

TEST_CASE("UTF-8 stays, and a byte that is none is replaced")
{
    CHECK(
        json_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    CHECK(
        json_string("a\xff"
                    "b") == R"("a\ufffdb")");
    CHECK(json_string("\xc3") == R"("\ufffd")");
    CHECK(json_string("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")"); // A surrogate.
    CHECK(json_string("\xc0\x80") == R"("\ufffd\ufffd")");           // Longer than need be.
}

TEST_CASE("a list of texts")
{
    CHECK(json_strings({}) == "[]");
    std::vector<std::string> const two{"a", "b"};
    CHECK(json_strings(two) == R"(["a", "b"])");
}

} // namespace cleat::app::json_text_test
