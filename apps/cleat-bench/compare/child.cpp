#include "compare/child.hpp"

#include <cleat/core/unique_fd.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto stop_patience = 5s;
constexpr auto run_patience = 60s; // An RSA key of 4096 bits has taken 10 s on a busy machine.

// Runs between fork and exec, so only what is async-signal-safe. Returns if the program cannot be
// started.
void run_program(
    char* const* command, char* const* variables, cpu_set_t const* cores, sigset_t const& mask,
    int join_file, int log, int null_device)
{
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (join_file >= 0 && ::write(join_file, "0", 1) != 1) {
        static_cast<void>(!::write(log, "cannot join its control group", 29));
        return;
    }
    if (cores != nullptr)
        ::sched_setaffinity(0, sizeof *cores, cores);
    ::dup2(null_device, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::execve(command[0], command, variables);
    char const* const reason = ::strerrordesc_np(errno);
    static_cast<void>(!::write(STDERR_FILENO, reason, std::strlen(reason)));
}

// Pointers to words, with a null after them, as execve wants them. It does not write there.
std::vector<char*> pointers_to(std::vector<std::string> const& words)
{
    std::vector<char*> found;
    for (std::string const& word : words)
        found.push_back(const_cast<char*>(word.c_str()));
    found.push_back(nullptr);
    return found;
}

std::string_view name_in(std::string_view variable)
{
    return variable.substr(0, variable.find('='));
}

// The variables of this process and those that are given, which replace others of the same name.
std::vector<std::string> with_own_variables(std::vector<std::string> given)
{
    std::size_t const count = given.size();
    for (char** each = environ; *each != nullptr; ++each) {
        auto const end = given.begin() + static_cast<std::ptrdiff_t>(count);
        if (std::find_if(given.begin(), end, [&](std::string const& one) {
                return name_in(one) == name_in(*each);
            }) == end)
            given.emplace_back(*each);
    }
    return given;
}

} // namespace

void adopt_orphans() noexcept
{
    static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1UL));
}

child::child(launch const& launched) : log_{launched.log}
{
    std::vector<char*> const command = pointers_to(launched.command);
    std::vector<std::string> const variables = with_own_variables(launched.variables);
    std::vector<char*> const variable_pointers = pointers_to(variables);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int const core : launched.cores)
        CPU_SET(static_cast<std::size_t>(core), &cores);
    unique_fd const log{::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    unique_fd const null_device{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (log && null_device)
        pid_ = ::fork();
    if (pid_ == 0) {
        run_program(
            command.data(), variable_pointers.data(), launched.cores.empty() ? nullptr : &cores,
            launched.mask, launched.join_file, log.get(), null_device.get());
        ::_exit(127);
    }
    if (pid_ < 0)
        throw std::runtime_error{fmt::format(
            "{} cannot be started: {}", launched.command.front(), std::strerror(errno))};
}

child::child(child&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, has_ended_{other.has_ended_}, log_{std::move(other.log_)}
{
}

child::~child()
{
    stop();
}

// WNOWAIT keeps the process ID taken until stop, so it cannot be another process's.
bool child::has_ended() noexcept
{
    siginfo_t info{};
    if (!has_ended_ && pid_ > 0 &&
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        has_ended_ = info.si_pid == pid_;
    return has_ended_;
}

std::optional<std::string> child::ended()
{
    siginfo_t info{};
    if (!has_ended() ||
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return std::nullopt;
    if (info.si_code == CLD_EXITED)
        return fmt::format("ended with code {}", info.si_status);
    return fmt::format("was ended by signal {}", info.si_status);
}

bool child::wait(std::chrono::milliseconds patience)
{
    auto const deadline = clock::now() + patience;
    while (!has_ended() && clock::now() < deadline)
        std::this_thread::sleep_for(2ms);
    return has_ended();
}

void child::stop() noexcept
{
    if (pid_ <= 0)
        return;
    if (!has_ended()) {
        ::kill(pid_, SIGTERM);
        static_cast<void>(wait(stop_patience));
    }
    ::kill(-pid_, SIGKILL); // Its session has its processes only.
    // Its children become ours (adopt_orphans).
    while (::waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR)
        continue;
    pid_ = -1;
}

std::string child::output() const
{
    std::ifstream file{log_, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string system_program(std::string_view name, std::string_view purpose)
{
    for (char const* const folder : {"/usr/bin", "/usr/local/bin", "/bin"})
        if (std::string path = fmt::format("{}/{}", folder, name);
            ::access(path.c_str(), X_OK) == 0)
            return path;
    throw std::runtime_error{fmt::format(
        "the program {} is missing, which {}: install the package {}", name, purpose, name)};
}

std::string run_to_end(launch const& launched)
{
    child process{launched};
    bool const in_time = process.wait(run_patience);
    std::optional<std::string> const end = process.ended();
    process.stop();
    std::string const output = process.output();
    if (!in_time || end != "ended with code 0")
        throw std::runtime_error{fmt::format(
            "{} {}:\n{}", fmt::join(launched.command, " "), in_time ? *end : "took too long",
            output)};
    return output;
}

} // namespace cleat::bench
