#include "report/attach.hpp"
#include "report/off_cpu_text.hpp"
#include "report/profile.hpp"
#include "report/quantities.hpp"
#include "report/sample_waits.hpp"
#include "report/trace.hpp"
#include "report/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

std::string proc_text(int pid, std::string_view name)
{
    std::ifstream file{fmt::format("/proc/{}/{}", pid, name), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// check_allowed throws where the kernel does not show what the process waits in.
void check_allowed(int pid)
{
    std::string const name = fmt::format("/proc/{}/syscall", pid);
    int const file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    char byte = 0;
    bool const there = file >= 0 && ::read(file, &byte, 1) >= 0;
    int const error = errno;
    if (file >= 0)
        ::close(file);
    if (there)
        return;
    if (error == ENOENT || error == ESRCH)
        throw std::runtime_error{fmt::format("{}: there is no such process", pid)};
    throw std::runtime_error{fmt::format(
        "{}: {}: give the process's own user or root, and see kernel.yama.ptrace_scope", name,
        std::generic_category().message(error))};
}

// process_of is a process as it is now.
traced_process process_of(int pid)
{
    traced_process made;
    made.pid = pid;
    made.program = in_utf8(proc_text(pid, "comm"));
    made.arguments.push_back(in_utf8(proc_text(pid, "cmdline")));
    std::ranges::replace(made.arguments.back(), '\0', ' ');
    made.ended_ns = made.ended_realtime_ns = ~std::uint64_t{0};
    made.maps = proc_text(pid, "maps");
    return made;
}

// add_samples adds what the process's threads waited in: one entry stands for all of them.
void add_samples(traced_process& process, off_cpu_record record)
{
    traced_thread& all = process.threads.emplace_back();
    all.threads = 1;
    all.lived_ns = record.sampled_ns;
    std::uint64_t off = record.no_core_ns;
    for (off_cpu_wait const& each : record.waits)
        off += each.ns;
    all.cpu_ns = record.sampled_ns - std::min(record.sampled_ns, off);
    process.off_cpu = std::move(record);
}

// recorded_into is the folder that a process's locks are recorded into; empty: they are not.
std::filesystem::path recorded_into(std::string const& maps)
{
    if (maps.find("/libcleat-locks.so") == std::string::npos)
        return {};
    std::istringstream lines{maps};
    for (std::string line; std::getline(lines, line);) {
        std::filesystem::path const file = line.substr(std::min(line.find('/'), line.size()));
        if (file.extension() == ".trace")
            return file.parent_path();
    }
    return {};
}

// locks_text says whether the process's locks are recorded, and where.
std::string locks_text(traced_process const& process)
{
    if (std::filesystem::path const folder = recorded_into(process.maps); !folder.empty())
        return fmt::format(
            "its locks are recorded already: read them with\n"
            "  cleat-locks report {}\n  Beside that",
            in_utf8(folder.string()));
    return "its locks cannot be recorded. A program's calls of lock functions are bound to libc's\n"
           "  as it starts, so start it under `cleat-locks run`. Instead";
}

} // namespace

std::string attach_text(attach_request const& request)
{
    check_allowed(request.pid);
    traced_process found = process_of(request.pid); // Before it may end.
    add_samples(found, sample_process(request.pid, request.seconds));
    profile const recorded = make_profile({found});
    return fmt::format(
        "{}\n  process {}: {}, {} samples of what its threads waited in:\n\n{}{}",
        found.arguments.front(), request.pid, locks_text(found), found.off_cpu.samples,
        off_cpu_heading(recorded), off_cpu_table(recorded, request.most));
}

} // namespace cleat::locks
