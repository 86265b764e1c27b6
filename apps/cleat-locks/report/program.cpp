#include "report/program.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::locks {
namespace {

namespace fs = std::filesystem;

std::string errno_text(int error)
{
    return std::generic_category().message(error);
}

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

} // namespace

fs::path program_file(std::string const& name)
{
    if (std::optional<fs::path> found = found_in_path(name))
        return *std::move(found);
    std::error_code ec;
    bool const is_there = name.find('/') != std::string::npos && fs::exists(name, ec);
    throw std::runtime_error{fmt::format(
        "{}: {}", name, is_there ? "it is not executable" : "there is no such program")};
}

// The child reports a failed exec through a pipe, which exec closes.
pid_t start_program(std::vector<std::string> const& command)
{
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0)
        throw std::runtime_error{fmt::format("pipe: {}", errno_text(errno))};
    pid_t const pid = ::fork();
    if (pid < 0)
        throw std::runtime_error{fmt::format("fork: {}", errno_text(errno))};
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
        throw std::runtime_error{fmt::format("{}: {}", command.front(), errno_text(error))};
    }
    return pid;
}

process_end wait_for_program(pid_t program)
{
    // The kernel knows its name until it has been waited for.
    siginfo_t about{};
    while (::waitid(P_PID, static_cast<id_t>(program), &about, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR)
        ;
    process_end end;
    end.gone_ns = now_ns();
    std::getline(std::ifstream{fmt::format("/proc/{}/comm", program)}, end.name);
    child = 0;
    while (::waitpid(program, &end.wait_status, 0) < 0 && errno == EINTR)
        ;
    return end;
}

int exit_code(int wait_status) noexcept
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

} // namespace cleat::locks
