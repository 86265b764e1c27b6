#include "system/cpu_quota.hpp"
#include "system/processes.hpp"

#include <cleat/core/control_group.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
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

constexpr std::string_view quota_cure =
    "run as root, or in a control group that is yours with its CPU controller (systemd-run --user "
    "--scope -p Delegate=yes), or leave server_cpu (--server-cpu) out";

[[noreturn]] void refuse_quota(std::string const& why)
{
    throw std::runtime_error{
        fmt::format("the server's CPU cannot be rationed: {}: {}", why, quota_cure)};
}

struct hierarchy
{
    fs::path folder;
    bool is_version_2 = false;
};

bool lists_word(std::string_view text, std::string_view word)
{
    std::istringstream words{std::string{text}};
    for (std::string each; words >> each;)
        if (each == word)
            return true;
    return false;
}

std::string text_in_file(fs::path const& path)
{
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

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
    if (version_2 && !lists_word(text_in_file(version_2->folder / "cgroup.controllers"), "cpu"))
        return std::nullopt;
    return version_2;
}

void write_line(fs::path const& file, std::string const& text)
{
    unique_fd const fd{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error{
            fmt::format("{}: cannot write '{}': {}", file.string(), text, std::strerror(errno))};
}

// The groups in which a group may be made, the best first: the root of the hierarchy, whose only
// limits are the machine's, and with version 2 what was delegated to this user: the group around
// our own, since a group with processes of its own gives its children no controller.
std::vector<fs::path> parents_in(hierarchy const& found)
{
    std::vector<fs::path> parents{found.folder};
    auto const own = control_group_of(text_in_file("/proc/self/cgroup"), found.is_version_2);
    if (own && *own != "/") {
        fs::path const folder = found.folder / own->substr(1);
        parents.push_back(folder.parent_path());
        parents.push_back(folder);
    }
    return parents;
}

// Version 2 gives a group's children the controllers that the group passes on.
bool passes_cpu_on(fs::path const& parent)
{
    fs::path const passed = parent / "cgroup.subtree_control";
    if (lists_word(text_in_file(passed), "cpu"))
        return true;
    try {
        write_line(passed, "+cpu");
        return true;
    } catch (std::runtime_error const&) {
        return false;
    }
}

// Makes a group in the first parent that lets us. Throws with the reason of the last.
fs::path make_group(hierarchy const& found)
{
    static int made = 0; // Only the main thread makes them.
    std::string const name = fmt::format("cleat-bench-{}-{}", ::getpid(), ++made);
    std::string why;
    for (fs::path const& parent : parents_in(found)) {
        if (found.is_version_2 && !passes_cpu_on(parent)) {
            why = fmt::format("{} does not give its groups the CPU controller", parent.string());
            continue;
        }
        std::error_code ec;
        fs::path const folder = parent / name;
        if (fs::create_directory(folder, ec))
            return folder;
        why = fmt::format("{}: cannot be made: {}", folder.string(), ec.message());
    }
    refuse_quota(why);
}

} // namespace

cpu_quota::cpu_quota(double cores)
{
    std::optional<hierarchy> const found = find_hierarchy();
    if (!found)
        refuse_quota("this system has no control groups of CPU mounted");
    root_ = found->folder;
    version_2_ = found->is_version_2;
    folder_ = make_group(*found);
    long const quota_us = static_cast<long>(cores * period_us);
    try {
        if (version_2_) {
            write_line(folder_ / "cpu.max", fmt::format("{} {}", quota_us, period_us));
        } else {
            write_line(folder_ / "cpu.cfs_period_us", std::to_string(period_us));
            write_line(folder_ / "cpu.cfs_quota_us", std::to_string(quota_us));
        }
        fs::path const list = folder_ / "cgroup.procs";
        processes_ = unique_fd{::open(list.c_str(), O_WRONLY | O_CLOEXEC)};
        if (!processes_)
            throw std::runtime_error{
                fmt::format("{}: cannot be opened: {}", list.string(), std::strerror(errno))};
    } catch (std::runtime_error const& e) {
        release();
        refuse_quota(e.what());
    }
}

cpu_quota::~cpu_quota()
{
    release();
}

void cpu_quota::adopt(std::vector<int> const& pids)
{
    for (int const pid : with_children(pids)) {
        auto const own =
            control_group_of(text_in_file(fmt::format("/proc/{}/cgroup", pid)), version_2_);
        if (!own)
            continue; // It has ended.
        fs::path const before = root_ / own->substr(1) / "cgroup.procs";
        std::string const text = std::to_string(pid);
        if (::write(processes_.get(), text.data(), text.size()) < 0) {
            if (errno == ESRCH)
                continue;
            refuse_quota(fmt::format("process {} cannot be moved: {}", pid, std::strerror(errno)));
        }
        adopted_.emplace_back(pid, before);
    }
}

// Processes that an adopted one has started go where the first came from.
void cpu_quota::release() noexcept
try {
    if (!adopted_.empty()) {
        std::istringstream left{text_in_file(folder_ / "cgroup.procs")};
        for (int pid = 0; left >> pid;) {
            auto const known =
                std::ranges::find(adopted_, pid, &std::pair<int, std::filesystem::path>::first);
            fs::path const& list =
                known == adopted_.end() ? adopted_.front().second : known->second;
            unique_fd const fd{::open(list.c_str(), O_WRONLY | O_CLOEXEC)};
            std::string const text = std::to_string(pid);
            static_cast<void>(!::write(fd.get(), text.data(), text.size()));
        }
    }
    processes_.reset();
    for (int i = 0; ::rmdir(folder_.c_str()) != 0 && errno == EBUSY && i != removals_max; ++i)
        std::this_thread::sleep_for(between_removals);
} catch (std::exception const&) { // Without memory the group stays.
}

} // namespace cleat::bench
