#include "report/line_cost.hpp"
#include "report/recordable.hpp"
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

// The recorder is beside this program: where it was installed, or in ../lib of a build.
fs::path recorder()
{
    fs::path const here = fs::read_symlink("/proc/self/exe").parent_path();
    for (std::string_view const folder : {CLEAT_LOCKS_FROM_BIN, "../lib/cleat"}) {
        fs::path const found = fs::weakly_canonical(here / folder / "libcleat-locks.so");
        if (fs::exists(found))
            return found;
    }
    throw std::runtime_error{fmt::format(
        "libcleat-locks.so is not there: it belongs into {}",
        fs::weakly_canonical(here / CLEAT_LOCKS_FROM_BIN).string())};
}

// found_in_path is the file that a shell would run.
std::optional<fs::path> found_in_path(std::string const& name)
{
    auto const runs = [](fs::path const& p) {
        std::error_code ec;
        return ::access(p.c_str(), X_OK) == 0 && !fs::is_directory(p, ec);
    };
    if (name.find('/') != std::string::npos)
        return runs(name) ? std::optional{fs::path{name}} : std::nullopt;
    char const* const path = std::getenv("PATH");
    std::string_view left = path ? path : "/usr/bin:/bin";
    while (!left.empty()) {
        std::size_t const colon = left.find(':');
        fs::path const file = fs::path{left.substr(0, colon)} / name;
        if (runs(file))
            return file;
        left = colon == std::string_view::npos ? std::string_view{} : left.substr(colon + 1);
    }
    return std::nullopt;
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
    std::string preload = recorder().string();
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

// house(state): a signal handler has no other way to find it.
std::atomic<pid_t> child{0};

// The terminal sends its signals to the program too; another process sends one to us alone.
void pass_on(int number, siginfo_t* about, void*)
{
    if (pid_t const program = child.load(); program > 0 && about->si_code != SI_KERNEL)
        ::kill(program, number);
}

void pass_on_signals()
{
    struct sigaction action
    {
    };
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO;
    for (int const number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2})
        ::sigaction(number, &action, nullptr);
}

// start forks and executes. The child reports a failed exec through a pipe, which exec closes.
pid_t start(std::vector<std::string> const& command)
{
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0)
        throw std::runtime_error{fmt::format("pipe: {}", message_of(errno))};
    pid_t const pid = ::fork();
    if (pid < 0)
        throw std::runtime_error{fmt::format("fork: {}", message_of(errno))};
    if (pid == 0) {
        std::vector<char*> words;
        for (std::string const& each : command)
            words.push_back(const_cast<char*>(each.c_str()));
        words.push_back(nullptr);
        ::execvp(words[0], words.data());
        int const error = errno;
        static_cast<void>(!::write(report[1], &error, sizeof error));
        ::_exit(127);
    }
    child = pid;
    pass_on_signals();
    ::close(report[1]);
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(report[0], &error, sizeof error)) < 0 && errno == EINTR)
        ;
    ::close(report[0]);
    if (got == sizeof error) {
        ::waitpid(pid, nullptr, 0);
        throw std::runtime_error{fmt::format("{}: {}", command.front(), message_of(error))};
    }
    return pid;
}

int wait_for(pid_t pid, fs::path const& folder)
{
    // The kernel knows its name until it has been waited for.
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &about, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    process_end end;
    end.gone_ns = now_ns();
    std::getline(std::ifstream{fmt::format("/proc/{}/comm", pid)}, end.name);
    child = 0;
    while (::waitpid(pid, &end.wait_status, 0) < 0 && errno == EINTR)
        ;
    note_end(folder, pid, end);
    int const status = end.wait_status;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
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
                missed = mark_at(folder, request.window, stop);
            } catch (std::exception const& e) {
                complain("cleat-locks: the window was not marked: {}\n", e.what());
            }
        }};
        code = wait_for(program, folder);
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
    std::optional<fs::path> const program = found_in_path(request.command.front());
    if (!program) {
        std::string const& name = request.command.front();
        std::error_code ec;
        bool const is_there = name.find('/') != std::string::npos && fs::exists(name, ec);
        throw std::runtime_error{fmt::format(
            "{}: {}", name, is_there ? "it is not executable" : "there is no such program")};
    }
    fs::path const folder = folder_for(request);
    std::string why = why_not_recorded(*program, own_surroundings());
    if (why.empty())
        why = full_disk_text(folder);
    if (!why.empty())
        complain(
            "cleat-locks: warning: nothing of {} will be recorded: {}\n", request.command.front(),
            why);
    int code = 0;
    try {
        prepare_environment(request, folder);
        pid_t const program_pid = start(request.command);
        code = watch(request, program_pid, folder);
    } catch (...) {
        std::error_code ec;
        fs::remove(folder, ec); // Only where it is empty.
        throw;
    }
    shrink_ended(folder);
    std::error_code unreadable;
    if (trace_files(folder, unreadable).empty()) {
        std::string const nothing = why_nothing(*program, folder);
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
