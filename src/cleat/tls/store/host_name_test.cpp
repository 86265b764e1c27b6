#include <cleat/tls/store/host_name.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace cleat::tls::host_name_test {

TEST_CASE("only DNS names and whole-label wildcards are usable")
{
    for (char const* good :
         {"a", "a.b", "*.b", "xn--bcher-kva.example", "a_b.c", "a.b.", "1.2.3.4"})
        CHECK_MESSAGE(is_usable_name(good), good);
    for (char const* bad :
         {"", ".", "*", "*.", "*.*.b", "a.*.b", "w*.b", "a..b", ".a", "a b", "a\nb", "b\xc3\xbc"})
        CHECK_MESSAGE(!is_usable_name(bad), bad);
    CHECK(!is_usable_name(std::string_view{"a\0.b", 4}));
    CHECK(!is_usable_name(std::string(64, 'a')));
    CHECK(!is_usable_name("*." + std::string(252, 'a')));
}

TEST_CASE("a key is in lower case, without the root's dot, and without a wildcard's star")
{
    CHECK(name_key("WWW.Example.com.") == "www.example.com");
    CHECK(name_key("*.Example.com") == ".example.com");
    CHECK(name_key(name_key("*.Example.com")) == ".example.com");
    CHECK(is_same_name("wWw.eXample.com", "www.example.com"));
    CHECK_FALSE(is_same_name("www.example.com", "www.example.co"));
    CHECK_FALSE(is_same_name("www.example.co", "www.example.com"));
}

} // namespace cleat::tls::host_name_test
