#include <cleat/core/cpu_limit.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace cleat::cpu_limit_test {
namespace {

using namespace std::chrono_literals;

// The kernel's files of a machine, with both versions of control groups.
struct machine
{
    temporary_folder root;
    control_group_files files{
        .version_2 = root.path() / "v2",
        .version_1 = root.path() / "v1",
        .own = root.path() / "own"};

    [[nodiscard]] std::optional<cpu_limit> limit() const { return read_cpu_limit(files); }
};

} // namespace

TEST_CASE("without control groups there is no limit")
{
    CHECK_FALSE(machine{}.limit().has_value());
}

TEST_CASE("version 2: the smallest limit from our group up to the root applies")
{
    machine const m;
    m.root.write("own", "1:name=systemd:/x\n0::/site/cleat\n");
    m.root.write("v2/site/cleat/cpu.max", "max 100000\n");
    CHECK_FALSE(m.limit().has_value());
    m.root.write("v2/site/cpu.max", "150000 50000\n");
    m.root.write("v2/cpu.max", "400000 100000\n");
    CHECK(m.limit() == cpu_limit{3, 50ms});
}

TEST_CASE("version 2: in a container our own group is the mount's root")
{
    machine const m;
    m.root.write("own", "0::/\n");
    m.root.write("v2/cpu.max", "50000 100000\n");
    CHECK(m.limit() == cpu_limit{0.5, 100ms});
}

TEST_CASE("version 1: the group of the controller cpu, alone or beside others")
{
    machine const m;
    m.root.write("v1/site/cpu.cfs_quota_us", "-1\n");
    m.root.write("v1/site/cpu.cfs_period_us", "100000\n");
    m.root.write("v1/site/cleat/cpu.cfs_quota_us", "3000\n");
    m.root.write("v1/site/cleat/cpu.cfs_period_us", "10000\n");
    for (std::string const controllers : {"cpu", "cpu,cpuacct", "cpuacct,cpu"}) {
        m.root.write("own", "3:cpuset:/\n2:" + controllers + ":/site/cleat\n0::/\n");
        CHECK(m.limit() == cpu_limit{0.3, 10ms});
    }
    m.root.write("own", "3:cpuset:/site/cleat\n0::/\n");
    CHECK_FALSE(m.limit().has_value());
}

TEST_CASE("version 1: a path of the host, which a container does not see, leaves the mount's limit")
{
    machine const m;
    m.root.write("own", "4:cpu,cpuacct:/docker/0f9a\n");
    m.root.write("v1/cpu.cfs_quota_us", "200000\n");
    m.root.write("v1/cpu.cfs_period_us", "100000\n");
    CHECK(m.limit() == cpu_limit{2, 100ms});
}

TEST_CASE("a control group outside of the mount is not followed")
{
    machine const m;
    m.root.write("own", "0::/../other\n");
    m.root.write("other/cpu.max", "100000 100000\n");
    CHECK_FALSE(m.limit().has_value());
}

TEST_CASE("files that make no sense are no limit")
{
    machine const m;
    m.root.write("own", "none\n:\n0::/\n2:cpu:/\n");
    m.root.write("v1/cpu.cfs_period_us", "100000\n");
    for (std::string const text :
         {"", "\n", "1 ", "0 100000", "-5 100000", "1 0", "x y", "1 2 3", "1.5 2"}) {
        CAPTURE(text);
        m.root.write("v2/cpu.max", text);
        CHECK_FALSE(m.limit().has_value());
    }
    for (std::string const text : {"", "\n", "0", "-1", "x", "1.5", "1 2"}) {
        CAPTURE(text);
        m.root.write("v1/cpu.cfs_quota_us", text);
        CHECK_FALSE(m.limit().has_value());
    }
}

} // namespace cleat::cpu_limit_test
