#include "system/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace cleat::bench {
namespace {

namespace fs = std::filesystem;

template <class F>
void for_each_task(int pid, F&& f)
{
    std::error_code none; // A process that has ended has no tasks.
    for (fs::directory_iterator task{fmt::format("/proc/{}/task", pid), none}, end;
         !none && task != end; task.increment(none))
        f(task->path());
}

} // namespace

std::vector<int> with_children(std::vector<int> pids)
{
    for (std::size_t i = 0; i != pids.size(); ++i)
        for_each_task(pids[i], [&](fs::path const& task) {
            std::ifstream children{task / "children"};
            for (int child = 0; children >> child;)
                if (std::ranges::find(pids, child) == pids.end())
                    pids.push_back(child);
        });
    return pids;
}

std::chrono::nanoseconds cpu_of(std::vector<int> const& pids)
{
    std::chrono::nanoseconds sum{};
    for (int const pid : with_children(pids)) {
        clockid_t clock{};
        timespec spent{};
        if (::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &spent) == 0)
            sum += std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
    }
    return sum;
}

std::uint64_t pss_of(std::vector<int> const& pids)
{
    std::uint64_t sum = 0;
    for (int const pid : with_children(pids)) {
        std::ifstream file{fmt::format("/proc/{}/smaps_rollup", pid)};
        for (std::string line; std::getline(file, line);)
            if (line.starts_with("Pss_Anon:") || line.starts_with("Pss_Shmem:"))
                sum += std::stoull(line.substr(line.find(':') + 1)) * 1024;
    }
    return sum;
}

bool exists(int pid) noexcept
{
    return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

} // namespace cleat::bench
