#include <cleat/core/cpu_topology.hpp>
#include <cleat/core/kernel_text.hpp>
#include <cleat/core/limits.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <sched.h>

namespace cleat {
namespace {

namespace fs = std::filesystem;

std::optional<int> parse_cpu_number(std::string_view text) noexcept
{
    std::optional<int> const n = parse_number<int>(text);
    return n && *n >= 0 && *n < limits::cpus_max ? n : std::nullopt;
}

std::optional<int> read_number(fs::path const& path)
{
    std::optional<std::string> const text = read_kernel_file(path);
    return text ? parse_number<int>(trimmed(*text)) : std::nullopt;
}

std::optional<std::vector<int>> read_cpu_list(fs::path const& path)
{
    std::optional<std::string> const text = read_kernel_file(path);
    return text ? parse_cpu_list(trimmed(*text)) : std::nullopt;
}

bool contains(std::vector<int> const& sorted, int number)
{
    return std::binary_search(sorted.begin(), sorted.end(), number);
}

// The list of siblings identifies a core. core_id does so only within a package, and is -1 on some
// machines, so it is the second choice.
int physical_core_of(cpu const& each, fs::path const& cpus_folder, std::vector<cpu> const& before)
{
    fs::path const topology = cpus_folder / ("cpu" + std::to_string(each.number)) / "topology";
    std::optional<std::vector<int>> const siblings =
        read_cpu_list(topology / "thread_siblings_list");
    if (siblings && contains(*siblings, each.number))
        return siblings->front();

    std::optional<int> const core = read_number(topology / "core_id");
    if (!core || *core < 0)
        return each.number;
    for (cpu const& other : before) {
        fs::path const others = cpus_folder / ("cpu" + std::to_string(other.number)) / "topology";
        if (other.package == each.package && read_number(others / "core_id") == core)
            return other.physical_core;
    }
    return each.number;
}

// (CPU, node) for every node folder, by CPU.
std::vector<std::pair<int, int>> read_numa_nodes(fs::path const& sysfs)
{
    std::vector<std::pair<int, int>> nodes;
    for (int const node :
         read_cpu_list(sysfs / "devices/system/node/online").value_or(std::vector<int>{})) {
        fs::path const folder = sysfs / "devices/system/node" / ("node" + std::to_string(node));
        for (int const number : read_cpu_list(folder / "cpulist").value_or(std::vector<int>{}))
            nodes.emplace_back(number, node);
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
}

} // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text)
{
    std::vector<int> numbers;
    if (trimmed(text).empty())
        return numbers;
    for (bool more = true; more;) {
        std::size_t const comma = text.find(',');
        std::string_view const range = text.substr(0, comma);
        more = comma != std::string_view::npos;
        if (more)
            text.remove_prefix(comma + 1);

        std::size_t const dash = range.find('-');
        std::optional<int> const first = parse_cpu_number(range.substr(0, dash));
        std::optional<int> const last =
            dash == std::string_view::npos ? first : parse_cpu_number(range.substr(dash + 1));
        if (!first || !last || *first > *last)
            return std::nullopt;
        // Overlapping ranges could repeat themselves without end.
        if (numbers.size() + static_cast<std::size_t>(*last - *first) >= limits::cpus_max)
            return std::nullopt;
        for (int n = *first; n <= *last; ++n)
            numbers.push_back(n);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

std::size_t cpu_topology::physical_cores() const
{
    std::set<int> cores;
    for (cpu const& each : cpus)
        cores.insert(each.physical_core);
    return cores.size();
}

std::size_t cpu_topology::workers_auto() const
{
    std::size_t n = std::max<std::size_t>(cpus.size(), 1);
    if (limit && limit->cpus < static_cast<double>(n))
        n = static_cast<std::size_t>(std::ceil(limit->cpus));
    return std::max<std::size_t>(n, 1);
}

cpu_topology read_cpu_topology(std::vector<int> allowed, kernel_files const& files)
{
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());

    fs::path const folder = files.sysfs / "devices/system/cpu";
    if (std::optional<std::vector<int>> const online = read_cpu_list(folder / "online")) {
        std::vector<int> both;
        std::set_intersection(
            allowed.begin(), allowed.end(), online->begin(), online->end(),
            std::back_inserter(both));
        if (!both.empty())
            allowed = std::move(both);
    }

    std::vector<std::pair<int, int>> const nodes = read_numa_nodes(files.sysfs);
    cpu_topology topology;
    for (int const number : allowed) {
        fs::path const files_of_cpu = folder / ("cpu" + std::to_string(number)) / "topology";
        auto const node = std::lower_bound(nodes.begin(), nodes.end(), std::pair{number, 0});
        cpu each{
            .number = number,
            .physical_core = number,
            .package = std::max(0, read_number(files_of_cpu / "physical_package_id").value_or(0)),
            .numa_node = node != nodes.end() && node->first == number ? node->second : 0};
        each.physical_core = physical_core_of(each, folder, topology.cpus);
        topology.cpus.push_back(each);
    }
    topology.limit = read_cpu_limit(files.control_group);
    return topology;
}

result<cpu_topology> read_cpu_topology(kernel_files const& files)
{
    result<std::vector<int>> allowed = allowed_cpus();
    if (!allowed)
        return allowed.error();
    return read_cpu_topology(*std::move(allowed), files);
}

std::vector<int> order_for_workers(cpu_topology const& topology, std::size_t n)
{
    // The round of a CPU: how many of its core's CPUs have a lower number.
    std::vector<std::tuple<int, int, int>> by_round; // round, node, number
    for (cpu const& each : topology.cpus) {
        auto const round =
            std::count_if(topology.cpus.begin(), topology.cpus.end(), [&](cpu const& other) {
                return other.physical_core == each.physical_core && other.number < each.number;
            });
        by_round.emplace_back(static_cast<int>(round), each.numa_node, each.number);
    }
    std::sort(by_round.begin(), by_round.end());

    std::vector<int> order;
    if (by_round.empty())
        return order;
    order.reserve(n);
    for (std::size_t i = 0; i != n; ++i)
        order.push_back(std::get<2>(by_round[i % by_round.size()]));
    return order;
}

namespace {

struct free_cpu_set
{
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using cpu_set_ptr = std::unique_ptr<cpu_set_t, free_cpu_set>;

} // namespace

result<std::vector<int>> allowed_cpus()
{
    // The kernel answers EINVAL until the set is as long as its own, whose length is not known.
    for (int size = CPU_SETSIZE; size <= limits::cpus_max; size *= 2) {
        cpu_set_ptr const set{CPU_ALLOC(static_cast<std::size_t>(size))};
        if (!set)
            return make_error_code(boost::system::errc::not_enough_memory);
        std::size_t const bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
        CPU_ZERO_S(bytes, set.get());
        if (::sched_getaffinity(0, bytes, set.get()) == 0) {
            std::vector<int> allowed;
            for (int n = 0; n != size; ++n)
                if (CPU_ISSET_S(static_cast<std::size_t>(n), bytes, set.get()))
                    allowed.push_back(n);
            return allowed;
        }
        if (errno != EINVAL)
            return last_system_error();
    }
    return make_error_code(boost::system::errc::invalid_argument);
}

error_code pin_this_thread(int cpu_number) noexcept
{
    if (cpu_number < 0 || cpu_number >= limits::cpus_max)
        return make_error_code(boost::system::errc::invalid_argument);
    std::size_t const count = static_cast<std::size_t>(cpu_number) + 1;
    cpu_set_ptr const set{CPU_ALLOC(count)};
    if (!set)
        return make_error_code(boost::system::errc::not_enough_memory);
    CPU_ZERO_S(CPU_ALLOC_SIZE(count), set.get());
    CPU_SET_S(static_cast<std::size_t>(cpu_number), CPU_ALLOC_SIZE(count), set.get());
    if (::sched_setaffinity(0, CPU_ALLOC_SIZE(count), set.get()) != 0)
        return last_system_error();
    return {};
}

} // namespace cleat
