#include <cleat/core/control_group.hpp>

#include <doctest/doctest.h>

namespace cleat::control_group_test {
namespace {

TEST_CASE("the group of a process is found in both versions")
{
    char const* const both = "12:cpuset:/\n4:cpu,cpuacct:/user/one\n0::/system.slice/two\n";
    CHECK(control_group_of(both, false) == "/user/one");
    CHECK(control_group_of(both, true) == "/system.slice/two");
    CHECK(control_group_of("3:cpu:/\n", false) == "/");
    CHECK(!control_group_of("3:cpuset:/\n", false));
    CHECK(!control_group_of("3:cpu:/\n", true));
    CHECK(!control_group_of("", true));
    CHECK(control_group_of("0::/a:b\n", true) == "/a:b");
}

} // namespace
} // namespace cleat::control_group_test
