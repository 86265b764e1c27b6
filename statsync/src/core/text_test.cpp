#include "core/text.hpp"

#include <doctest/doctest.h>

namespace statsync::text_test {
namespace {

TEST_CASE("lower case is Unicode's, and nothing else changes")
{
    CHECK(in_form("TiTLe", text_form::lower) == "title");
    CHECK(in_form("ÄÖÜ", text_form::lower) == "äöü");
    CHECK(in_form("Straße", text_form::lower) == "straße");
    CHECK(in_form("İ", text_form::lower) == "i\u0307");
    CHECK(in_form(" a ", text_form::lower) == " a ");
}

TEST_CASE("lower case keeps the compatibility forms of ideographs apart")
{
    CHECK(in_form("\uF900", text_form::lower) == "\uF900");
    CHECK(in_form("\uF900", text_form::folded) == "\u8C48");
}

TEST_CASE("folded names are trimmed, composed and without case")
{
    CHECK(in_form("  Straße\t", text_form::folded) == "strasse");
    CHECK(in_form("e\u0301", text_form::folded) == in_form("É", text_form::folded));
    CHECK(in_form("Ａ", text_form::folded) == "ａ");
}

TEST_CASE("compatible names have no widths")
{
    CHECK(in_form("ＡＢＣ", text_form::compatible) == "abc");
    CHECK(in_form("ﬁne", text_form::compatible) == "fine");
}

TEST_CASE("bytes that are no UTF-8 stay as they are")
{
    CHECK(
        in_form(
            "A\xff"
            "B",
            text_form::lower) == "a\xff"
                                 "b");
    CHECK(in_form("A\xff", text_form::folded) == "a\xff");
}

TEST_CASE("a terminal gets no control characters")
{
    CHECK(printable("a\x1b[31mb") == "a\uFFFD[31mb");
    CHECK(printable("\u202Eabc") == "\uFFFDabc");
    CHECK(printable("grün") == "grün");
}

} // namespace
} // namespace statsync::text_test
