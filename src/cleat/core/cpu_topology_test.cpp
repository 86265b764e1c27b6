#include <cleat/core/cpu_topology.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include <sched.h>

namespace cleat::cpu_topology_test {
namespace {

// A machine's files.
struct machine
{
    temporary_folder root;
    kernel_files files{
        .sysfs = root.path() / "sys",
        .control_group = {
            .version_2 = root.path() / "cgroup",
            .version_1 = root.path() / "none",
            .own = root.path() / "own_cgroup"}};

    void add(int number, std::string const& siblings, int core = 0, int package = 0) const
    {
        std::string const folder =
            "sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/";
        if (!siblings.empty())
            root.write(folder + "thread_siblings_list", siblings + "\n");
        root.write(folder + "core_id", std::to_string(core) + "\n");
        root.write(folder + "physical_package_id", std::to_string(package) + "\n");
    }
    void online(std::string const& list) const
    {
        root.write("sys/devices/system/cpu/online", list);
    }
};

std::vector<int> up_to(int n)
{
    std::vector<int> numbers;
    for (int i = 0; i != n; ++i)
        numbers.push_back(i);
    return numbers;
}

// Four cores with two threads each: 0,4 1,5 2,6 3,7.
void add_four_cores_of_two(machine const& m)
{
    for (int n = 0; n != 8; ++n)
        m.add(n, std::to_string(n % 4) + "," + std::to_string(n % 4 + 4), n % 4);
    m.online("0-7\n");
}

} // namespace

TEST_CASE("every core gets a first worker before any gets a second")
{
    machine const m;
    add_four_cores_of_two(m);
    cpu_topology const topology = read_cpu_topology(up_to(8), m.files);
    CHECK(topology.physical_cores() == 4);
    CHECK(topology.workers_auto() == 8);
    CHECK(topology.cpus[5] == cpu{.number = 5, .physical_core = 1, .package = 0, .numa_node = 0});
    CHECK(order_for_workers(topology, 4) == std::vector{0, 1, 2, 3});
    CHECK(order_for_workers(topology, 8) == up_to(8));
    CHECK(order_for_workers(topology, 10) == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 0, 1});
    CHECK(order_for_workers(topology, 0).empty());
}

TEST_CASE("siblings next to each other are still one core")
{
    machine const m;
    for (int n = 0; n != 4; ++n)
        m.add(n, n < 2 ? "0-1" : "2-3", n / 2);
    cpu_topology const topology = read_cpu_topology(up_to(4), m.files);
    CHECK(order_for_workers(topology, 4) == std::vector{0, 2, 1, 3});
}

TEST_CASE("a core whose first CPU is not allowed is used by its second in the first round")
{
    machine const m;
    add_four_cores_of_two(m);
    cpu_topology const topology = read_cpu_topology({4, 5, 1}, m.files);
    CHECK(topology.physical_cores() == 2);
    CHECK(order_for_workers(topology, 3) == std::vector{1, 4, 5});
}

TEST_CASE("an offline CPU gets no worker, unless the kernel's list would leave none")
{
    machine const m;
    add_four_cores_of_two(m);
    m.online("0,2-7\n");
    CHECK(read_cpu_topology({0, 1, 2}, m.files).cpus.size() == 2);
    CHECK(read_cpu_topology({1}, m.files).cpus.size() == 1);
}

TEST_CASE("a NUMA node is filled before the next one")
{
    machine const m;
    for (int n = 0; n != 4; ++n)
        m.add(n, std::to_string(n), n / 2, n % 2);
    m.root.write("sys/devices/system/node/online", "0-1\n");
    m.root.write("sys/devices/system/node/node0/cpulist", "0,2\n");
    m.root.write("sys/devices/system/node/node1/cpulist", "1,3\n");
    cpu_topology const topology = read_cpu_topology(up_to(4), m.files);
    CHECK(topology.cpus[3].numa_node == 1);
    CHECK(topology.cpus[3].package == 1);
    CHECK(order_for_workers(topology, 4) == std::vector{0, 2, 1, 3});
}

TEST_CASE("without a list of siblings, the same core_id in the same package is the same core")
{
    machine const m;
    m.add(0, "", 3, 0);
    m.add(1, "", 3, 1);
    m.add(2, "", 3, 0);
    m.add(3, "", -1, 0);
    m.add(4, "", -1, 0);
    cpu_topology const topology = read_cpu_topology(up_to(5), m.files);
    CHECK(topology.cpus[2].physical_core == 0);
    CHECK(topology.physical_cores() == 4);
}

TEST_CASE("without the kernel's files every CPU is a core of its own")
{
    machine const m;
    cpu_topology const topology = read_cpu_topology({2, 0, 2}, m.files);
    REQUIRE(topology.cpus.size() == 2);
    CHECK(topology.cpus[1] == cpu{.number = 2, .physical_core = 2, .package = 0, .numa_node = 0});
    CHECK_FALSE(topology.limit.has_value());
    CHECK(order_for_workers(topology, 2) == std::vector{0, 2});
}

TEST_CASE("garbage in the kernel's files is treated like a missing file")
{
    machine const m;
    for (std::string const garbage :
         {"", "\n", "a", "0-", "-1", "1-0", "0,", "0-99999999999", "0x1", "5", "0-65535,0-65535"}) {
        CAPTURE(garbage);
        m.online(garbage);
        m.root.write("sys/devices/system/node/online", garbage);
        m.root.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", garbage);
        m.root.write("sys/devices/system/cpu/cpu0/topology/core_id", "none");
        m.root.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "99999999999");
        m.root.write("cgroup/cpu.max", garbage);
        cpu_topology const topology = read_cpu_topology({0}, m.files);
        REQUIRE(topology.cpus.size() == 1);
        CHECK(
            topology.cpus[0] == cpu{.number = 0, .physical_core = 0, .package = 0, .numa_node = 0});
        CHECK_FALSE(topology.limit.has_value());
    }
    m.online(std::string(limits::sysfs_file_max + 1, '0'));
    CHECK(read_cpu_topology({0}, m.files).cpus.size() == 1);
}

TEST_CASE("a limit below the number of CPUs is the number of workers, rounded up")
{
    machine const m;
    m.root.write("own_cgroup", "0::/\n");
    m.root.write("cgroup/cpu.max", "150000 100000\n");
    cpu_topology const topology = read_cpu_topology(up_to(8), m.files);
    CHECK(topology.limit == cpu_limit{1.5, std::chrono::milliseconds{100}});
    CHECK(topology.workers_auto() == 2);

    m.root.write("cgroup/cpu.max", "1000 100000\n");
    CHECK(read_cpu_topology(up_to(8), m.files).workers_auto() == 1);
}

TEST_CASE("the kernel's notation for lists is read")
{
    CHECK(parse_cpu_list("") == std::vector<int>{});
    CHECK(parse_cpu_list("0-2,7,5-5") == std::vector{0, 1, 2, 5, 7});
    CHECK(parse_cpu_list("3,1-3") == std::vector{1, 2, 3});
    for (char const* bad : {",", "1,,2", "1-2-3", "1 2", "+1", "65536"})
        CHECK_FALSE(parse_cpu_list(bad).has_value());
}

TEST_CASE("a pinned thread runs on its CPU")
{
    result<cpu_topology> const machine_cpus = read_cpu_topology();
    REQUIRE(machine_cpus.has_value());
    REQUIRE(!machine_cpus->cpus.empty());
    int const wanted = machine_cpus->cpus.back().number;
    int ran_on = -1;
    error_code pinned;
    std::vector<int> allowed;
    std::thread worker{[&] {
        pinned = pin_this_thread(wanted);
        ran_on = ::sched_getcpu();
        allowed = allowed_cpus().value();
    }};
    worker.join();
    CHECK_FALSE(pinned);
    CHECK(ran_on == wanted);
    CHECK(allowed == std::vector{wanted});
}

TEST_CASE("pinning to a CPU that does not exist is an error")
{
    CHECK(pin_this_thread(-1));
    CHECK(pin_this_thread(limits::cpus_max));
    CHECK(pin_this_thread(limits::cpus_max - 1));
}

} // namespace cleat::cpu_topology_test
