#include "report/line_cost.hpp"
#include "report/program.hpp"
#include "report/recordable.hpp"
#include "report/recorder_file.hpp"
#include "report/run.hpp"
#include "report/sample_waits.hpp"
#include "report/shrink.hpp"
#include "report/trace.hpp"
#include "report/trace_files.hpp"
#include "report/unrecorded.hpp"
#include "standard_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <thread>

#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

std::string message_of(int error)
{
    return std::generic_category().message(error);
}

// full_disk_text says that a trace has no room in a folder; empty: it has.
std::string full_disk_text(fs::path const& folder)
{
    std::error_code ec;
    std::uintmax_t const free = fs::space(folder, ec).available;
    std::uintmax_t const needed = trace_tables_bytes + trace_block_bytes;
    if (ec || free >= needed)
        return {};
    return fmt::format(
        "the disk of {} is full: {} KiB are free, and a trace takes {} KiB and {} KiB more for "
        "each thread",
        folder.string(), free >> 10, trace_tables_bytes >> 10, trace_block_bytes >> 10);
}

// why_nothing gives a likely reason why nothing was recorded of a program that has run.
std::string why_nothing(fs::path const& program, fs::path const& folder)
{
    if (std::string why = why_not_recorded(program, own_surroundings()); !why.empty())
        return why;
    if (std::string why = full_disk_text(folder); !why.empty())
        return why;
    return "no process of it was linked dynamically, or they ended before the recorder began, or "
           "the folder cannot be written";
}

fs::path folder_for(run_request const& request)
{
    fs::path const folder = fs::absolute(
        request.trace.empty()
            ? fs::path{fs::path{request.command.front()}.filename().string() + ".locks"}
            : request.trace);
    std::error_code ec;
    if (fs::exists(folder, ec))
        throw std::runtime_error{
            fmt::format("{} exists: remove it, or name another trace with -o", folder.string())};
    fs::create_directories(folder, ec);
    if (ec)
        throw std::runtime_error{fmt::format("{}: {}", folder.string(), ec.message())};
    return folder;
}

void set(char const* name, std::string const& value)
{
    if (::setenv(name, value.c_str(), 1) != 0)
        throw std::runtime_error{fmt::format("{}: {}", name, message_of(errno))};
}

void prepare_environment(run_request const& request, fs::path const& folder)
{
    std::string preload = recorder_file("libcleat-locks.so").string();
    if (preload.find_first_of(": ") != std::string::npos)
        throw std::runtime_error{fmt::format(
            "{}: the system cannot preload a file with a space or a colon in its path", preload)};
    if (char const* const before = std::getenv("LD_PRELOAD"); before && *before != '\0')
        preload += fmt::format(":{}", before);
    set("LD_PRELOAD", preload);
    set("CLEAT_LOCKS_TRACE", folder.string());
    set("CLEAT_LOCKS_HZ", fmt::format("{}", request.cpu_hz));
    set("CLEAT_LOCKS_LINE_PS", fmt::format("{:.0f}", measure_line_ns() * 1e3));
    if (request.every_hold)
        set("CLEAT_LOCKS_EVERY_HOLD", "1");
    if (request.signal != 0)
        set("CLEAT_LOCKS_SIGNAL", fmt::format("{}", request.signal));
}

// watch waits for the program's end, samples its threads meanwhile, and marks the window.
int watch(run_request const& request, pid_t program, fs::path const& folder)
{
    int code = 0;
    std::optional<window_edge> missed;
    {
        std::jthread const sampler{
            [&](std::stop_token const& stop) { sample_waits(folder, stop); }};
        std::jthread const marker{[&](std::stop_token const& stop) {
            try {
                missed = mark_at(request.window, stop, [&folder](window_edge edge) {
                    static_cast<void>(mark(folder, edge));
                });
            } catch (std::exception const& e) {
                complain("cleat-locks: the window was not marked: {}\n", e.what());
            }
        }};
        process_end const end = wait_for_program(program);
        note_end(folder, program, end);
        code = exit_code(end.wait_status);
    }
    if (missed)
        complain(
            "cleat-locks: warning: {} ended before --{}: the record {}\n", request.command.front(),
            *missed == window_edge::begin ? "from" : "to",
            *missed == window_edge::begin ? "is of the whole run" : "ends with the program");
    return code;
}

} // namespace

int run_traced(run_request const& request)
{
    fs::path const program = program_file(request.command.front());
    fs::path const folder = folder_for(request);
    std::string why = why_not_recorded(program, own_surroundings());
    if (why.empty())
        why = full_disk_text(folder);
    if (!why.empty())
        complain(
            "cleat-locks: warning: nothing of {} will be recorded: {}\n", request.command.front(),
            why);
    int code = 0;
    try {
        prepare_environment(request, folder);
        pid_t const program_pid = start_program(request.command);
        code = watch(request, program_pid, folder);
    } catch (...) {
        std::error_code ec;
        fs::remove(folder, ec); // Only where it is empty.
        throw;
    }
    shrink_ended(folder);
    std::error_code unreadable;
    if (trace_files(folder, unreadable).empty()) {
        std::string const nothing = why_nothing(program, folder);
        std::error_code ec;
        fs::remove(folder / unrecorded_file, ec);
        fs::remove(folder, ec);
        throw std::runtime_error{fmt::format(
            "{} ended with exit code {}, and nothing was recorded: {}", request.command.front(),
            code, nothing)};
    }
    std::string const shown =
        request.trace.empty() ? folder.filename().string() : request.trace.string();
    complain("cleat-locks: recorded into {0}; read it with: cleat-locks report {0}\n", shown);
    return code;
}

} // namespace cleat::locks
