#include "system/ration.hpp"
#include "text/usage_error.hpp"

#include <doctest/doctest.h>

namespace cleat::bench::cpu_quota_test {
namespace {

TEST_CASE("a ration is written in cores or in percent of one")
{
    CHECK(parse_ration("0.3", 1) == doctest::Approx(0.3));
    CHECK(parse_ration("30%", 1) == doctest::Approx(0.3));
    CHECK(parse_ration("1.5", 2) == doctest::Approx(1.5));
    for (char const* text : {"", "0", "0.05", "1.1", "-1", "nan", "some", "0.3s"})
        CHECK_THROWS_AS(static_cast<void>(parse_ration(text, 1)), usage_error);
}

} // namespace
} // namespace cleat::bench::cpu_quota_test
