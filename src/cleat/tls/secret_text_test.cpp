#include <cleat/tls/secret_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace cleat::tls::secret_text_test {
namespace {

constexpr std::string_view key = "a key that is too long to be in the string's own bytes";

} // namespace

TEST_CASE("copies of a secret text share it")
{
    secret_text const one{key};
    secret_text const other = one;
    CHECK(one.view() == key);
    CHECK(other.view().data() == one.view().data());
    CHECK(one == other);
    CHECK(one == secret_text{key});
    CHECK_FALSE(one == secret_text{"another"});
    CHECK_FALSE(one == secret_text{});
    CHECK(secret_text{} == secret_text{""});
    CHECK(secret_text{std::string{}}.empty());
    CHECK_FALSE(one.empty());
}

TEST_CASE("a text that is moved into a secret text is neither copied nor left behind")
{
    std::string long_text{key};
    char const* const bytes = long_text.data();
    CHECK(secret_text{std::move(long_text)}.view().data() == bytes);
    for (std::string_view const text : {std::string_view{"short"}, key}) {
        secret_text from{text};
        secret_text const to = std::move(from);
        CHECK(to.view() == text);
        CHECK(from.empty());
    }
}

} // namespace cleat::tls::secret_text_test
