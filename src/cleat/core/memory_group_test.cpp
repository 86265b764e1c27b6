#include <cleat/core/memory_group.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <unistd.h>

namespace cleat::memory_group_test {
namespace {

// The kernel's files of a machine, with both versions of control groups.
struct machine
{
    temporary_folder root;
    memory_group_files files{
        .version_2 = root.path() / "v2",
        .version_1 = root.path() / "v1",
        .own = root.path() / "own"};

    [[nodiscard]] std::optional<memory_group> group() const { return find_memory_group(files); }
};

} // namespace

TEST_CASE("without control groups there is none")
{
    CHECK_FALSE(machine{}.group().has_value());
}

TEST_CASE("version 2: the group with the smallest limit, from ours up to the root")
{
    machine const m;
    m.root.write("own", "1:name=systemd:/x\n0::/site/cleat\n");
    m.root.write("v2/site/cleat/memory.max", "max\n");
    m.root.write("v2/site/cleat/memory.high", "max\n");
    CHECK_FALSE(m.group().has_value());
    m.root.write("v2/site/memory.max", "1000000\n");
    REQUIRE(m.group().has_value());
    CHECK(m.group()->limit == 1'000'000);
    CHECK(m.group()->folder == m.root.path() / "v2/site");
    CHECK(m.group()->is_version_2);
    m.root.write(
        "v2/site/cleat/memory.high", "900000\n"); // The kernel slows a group above it down.
    CHECK(m.group()->limit == 900'000);
}

TEST_CASE("version 2: page cache that the kernel takes back first is not in use")
{
    machine const m;
    m.root.write("own", "0::/\n");
    m.root.write("v2/memory.max", "1000000\n");
    m.root.write("v2/memory.current", "700000\n");
    CHECK_FALSE(memory_in_use(*m.group()).has_value());
    m.root.write("v2/memory.stat", "anon 5\nfile 300\ninactive_file 99993\nactive_file 7\n");
    CHECK(memory_in_use(*m.group()) == 600'000U);
    m.root.write("v2/memory.current", "90000\n"); // The two files are not read at one time.
    CHECK(memory_in_use(*m.group()) == 0U);
}

TEST_CASE("version 1: memory of sockets is added, which it counts apart")
{
    machine const m;
    m.root.write("own", "3:cpu:/\n2:memory:/site\n0::/\n");
    m.root.write("v1/site/memory.limit_in_bytes", "9223372036854771712\n");
    m.root.write("v1/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_FALSE(m.group().has_value());
    m.root.write("v1/site/memory.limit_in_bytes", "1000000\n");
    m.root.write("v1/site/memory.usage_in_bytes", "700000\n");
    m.root.write(
        "v1/site/memory.stat",
        "inactive_file 1\ntotal_inactive_file 90000\ntotal_active_file 10000\n");
    REQUIRE(m.group().has_value());
    CHECK(m.group()->limit == 1'000'000);
    CHECK_FALSE(m.group()->is_version_2);
    CHECK(memory_in_use(*m.group()) == 600'000U);
    m.root.write("v1/site/memory.kmem.tcp.usage_in_bytes", "50000\n");
    CHECK(memory_in_use(*m.group()) == 650'000U);
}

TEST_CASE("the memory of a process is the second number of statm, in pages")
{
    machine const m;
    m.root.write("statm", "90 30 5 1 0 2 0\n");
    auto const page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    CHECK(resident_memory(m.root.path() / "statm") == 30 * page);
    CHECK_FALSE(resident_memory(m.root.path() / "none").has_value());
    m.root.write("statm", "90\n");
    CHECK_FALSE(resident_memory(m.root.path() / "statm").has_value());
}

} // namespace cleat::memory_group_test
