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
#include <stdexcept>
#include <string_view>
#include <system_error>

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

traced_process process_of(int pid, off_cpu_record const& record)
{
    traced_process made;
    made.pid = pid;
    made.program = in_utf8(proc_text(pid, "comm"));
    made.arguments.push_back(in_utf8(proc_text(pid, "cmdline")));
    std::ranges::replace(made.arguments.back(), '\0', ' ');
    made.ended_ns = made.ended_realtime_ns = ~std::uint64_t{0};
    made.maps = proc_text(pid, "maps");
    made.off_cpu = record;
    traced_thread& all = made.threads.emplace_back();
    all.threads = 1;
    all.lived_ns = record.sampled_ns;
    std::uint64_t off = record.no_core_ns;
    for (off_cpu_wait const& each : record.waits)
        off += each.ns;
    all.cpu_ns = record.sampled_ns - std::min(record.sampled_ns, off);
    return made;
}

} // namespace

std::string attach_text(attach_request const& request)
{
    check_allowed(request.pid);
    // The map is read before the process may end.
    traced_process found = process_of(request.pid, {});
    std::string const command = found.arguments.front();
    std::string const maps = found.maps;
    off_cpu_record const record = sample_process(request.pid, request.seconds);
    found = process_of(request.pid, record);
    found.maps = maps;
    profile const recorded = make_profile({found});
    return fmt::format(
        "{}\n  process {}: its locks cannot be recorded. A program's calls of lock functions are "
        "bound "
        "to libc's\n  as it starts, so start it under `cleat-locks run`. Instead, {} samples of "
        "what "
        "its threads waited in:\n\n{}{}",
        command, request.pid, record.samples, off_cpu_heading(recorded),
        off_cpu_table(recorded, 30));
}

} // namespace cleat::locks
