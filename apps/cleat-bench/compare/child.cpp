#include "compare/child.hpp"
#include "system/processes.hpp"

#include <cleat/core/unique_fd.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
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
constexpr auto run_patience = 10s;

// Between fork and exec: only what is safe there. Comes back where the program cannot be started.
void become(
    char* const* words, cpu_set_t const* cores, sigset_t const& mask, int ration, int log, int none)
{
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (ration >= 0 && ::write(ration, "0", 1) != 1) {
        static_cast<void>(!::write(log, "cannot join its control group", 29));
        return;
    }
    if (cores != nullptr)
        ::sched_setaffinity(0, sizeof *cores, cores);
    ::dup2(none, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::execv(words[0], words);
    char const* const why = ::strerrordesc_np(errno);
    static_cast<void>(!::write(STDERR_FILENO, why, std::strlen(why)));
}

} // namespace

void adopt_orphans() noexcept
{
    static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1UL));
}

child::child(launch const& how) : log_{how.log}
{
    std::vector<char*> words;
    for (std::string const& word : how.words)
        words.push_back(const_cast<char*>(word.c_str())); // execv does not write there.
    words.push_back(nullptr);
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int const core : how.cores)
        CPU_SET(static_cast<std::size_t>(core), &cores);
    unique_fd const log{::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    unique_fd const none{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (log && none)
        pid_ = ::fork();
    if (pid_ == 0) {
        become(
            words.data(), how.cores.empty() ? nullptr : &cores, how.mask, how.ration, log.get(),
            none.get());
        ::_exit(127);
    }
    if (pid_ < 0)
        throw std::runtime_error{
            fmt::format("{} cannot be started: {}", how.words.front(), std::strerror(errno))};
}

child::child(child&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, over_{other.over_}, log_{std::move(other.log_)}
{
}

child::~child()
{
    stop();
}

// Its number stays taken until stop, so nobody else's process can be meant by it.
bool child::over() noexcept
{
    siginfo_t info{};
    if (!over_ && pid_ > 0 &&
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        over_ = info.si_pid == pid_;
    return over_;
}

std::optional<std::string> child::ended()
{
    siginfo_t info{};
    if (!over() ||
        ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return std::nullopt;
    if (info.si_code == CLD_EXITED)
        return fmt::format("ended with code {}", info.si_status);
    return fmt::format("was ended by signal {}", info.si_status);
}

bool child::wait(std::chrono::milliseconds patience)
{
    auto const until = clock::now() + patience;
    while (!over() && clock::now() < until)
        std::this_thread::sleep_for(2ms);
    return over();
}

void child::stop() noexcept
{
    if (pid_ <= 0)
        return;
    if (!over()) {
        ::kill(pid_, SIGTERM);
        static_cast<void>(wait(stop_patience));
    }
    ::kill(-pid_, SIGKILL); // Its own session: nobody else's processes.
    // Its own children come to us, the reaper of what it leaves.
    while (::waitpid(-pid_, nullptr, 0) > 0 || errno == EINTR)
        continue;
    pid_ = -1;
}

std::string child::said() const
{
    std::ifstream file{log_, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::chrono::nanoseconds child::cpu() const
{
    return cpu_of({pid_});
}

std::string run_to_end(launch const& how)
{
    child one{how};
    bool const in_time = one.wait(run_patience);
    std::optional<std::string> const end = one.ended();
    one.stop();
    std::string const said = one.said();
    if (!in_time || end != "ended with code 0")
        throw std::runtime_error{fmt::format(
            "{} {}:\n{}", fmt::join(how.words, " "), in_time ? *end : "took too long", said)};
    return said;
}

} // namespace cleat::bench
