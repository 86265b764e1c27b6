#include <cleat/core/control_group.hpp>
#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_CASE("the folders of a group are its own and those above it, to the mount")
{
    using folders = std::vector<std::string>;
    CHECK(control_group_folders("/m", "0::/a/b\n", true) == folders{"/m/a/b", "/m/a", "/m"});
    CHECK(control_group_folders("/m", "3:cpu:/a\n", false) == folders{"/m/a", "/m"});
    CHECK(control_group_folders("/m", "3:memory:a\n", false, "memory") == folders{"/m/a", "/m"});
    for (char const* const text : {"", "0::/\n", "0::/..\n", "0::/../a\n", "0::/a/../b\n"})
        CHECK(control_group_folders("/m", text, true) == folders{"/m"});
    std::string deep = "0::";
    for (int i = 0; i < 2 * limits::cgroup_depth_max; ++i)
        deep += "/x";
    CHECK(control_group_folders("/m", deep, true).size() == limits::cgroup_depth_max);
}

} // namespace
} // namespace cleat::control_group_test
