#include "compare/cpu_quota.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Short, so that a server that has used up its quota is not stopped for long: the comparison
// is about how a server divides its time, not how the kernel does.
constexpr long period_us = 10'000;
// The kernel takes a moment to remove the last process of a group.
constexpr int removals_max = 100;
constexpr auto between_removals = 5ms;

struct hierarchy
{
    fs::path folder;
    bool is_version_2 = false;
};

// Where version 1's controller `cpu`, or version 2 with that controller, is mounted.
std::optional<hierarchy> find_hierarchy()
{
    std::ifstream mounts{"/proc/self/mounts"};
    std::optional<hierarchy> version_2;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::string device;
        std::string folder;
        std::string type;
        std::string options;
        words >> device >> folder >> type >> options;
        bool const has_cpu = ("," + options + ",").find(",cpu,") != std::string::npos;
        if (type == "cgroup" && has_cpu)
            return hierarchy{folder, false};
        if (type == "cgroup2")
            version_2 = hierarchy{folder, true};
    }
    return version_2;
}

void write_line(fs::path const& file, std::string const& text)
{
    unique_fd const fd{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error{
            fmt::format("{}: cannot write '{}': {}", file.string(), text, std::strerror(errno))};
}

} // namespace

cpu_quota::cpu_quota(double part_of_core)
{
    static int made = 0; // Comparisons run in one thread.
    std::optional<hierarchy> const found = find_hierarchy();
    if (!found)
        throw std::runtime_error{
            "server_cpu: this system has no control groups mounted that ration CPU: leave it out"};
    fs::path const folder = found->folder / fmt::format("cleat-bench-{}-{}", ::getpid(), ++made);
    std::error_code ec;
    if (!fs::create_directory(folder, ec))
        throw std::runtime_error{fmt::format(
            "server_cpu: {}: cannot be made: {}: run as root, or leave it out", folder.string(),
            ec.message())};
    folder_ = folder;
    long const quota_us = static_cast<long>(part_of_core * period_us);
    try {
        if (found->is_version_2) {
            write_line(folder / "cpu.max", fmt::format("{} {}", quota_us, period_us));
        } else {
            write_line(folder / "cpu.cfs_period_us", std::to_string(period_us));
            write_line(folder / "cpu.cfs_quota_us", std::to_string(quota_us));
        }
        fs::path const list = folder / "cgroup.procs";
        processes_ = unique_fd{::open(list.c_str(), O_WRONLY | O_CLOEXEC)};
        if (!processes_)
            throw std::runtime_error{
                fmt::format("{}: cannot be opened: {}", list.string(), std::strerror(errno))};
    } catch (std::runtime_error const& e) {
        fs::remove(folder, ec);
        throw std::runtime_error{fmt::format(
            "server_cpu: {}: run as root where the control group may ration CPU, or leave it out",
            e.what())};
    }
}

cpu_quota::~cpu_quota()
{
    processes_.reset();
    for (int i = 0; ::rmdir(folder_.c_str()) != 0 && errno == EBUSY && i != removals_max; ++i)
        std::this_thread::sleep_for(between_removals);
}

} // namespace cleat::bench
