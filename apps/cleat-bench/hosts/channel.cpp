#include "hosts/channel.hpp"
#include "hosts/host_lines.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// A host may complain without end; the reason of its end is in the last lines.
constexpr std::size_t complaints_max = 64 * 1024;
constexpr auto end_patience = 1s;
constexpr auto end_step = 5ms;

struct pipe_ends
{
    unique_fd ours;
    unique_fd theirs;
};

// A socket, not a pipe: a program that has ended must not end this one with SIGPIPE.
pipe_ends make_pipe()
{
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error{fmt::format("no pipe for ssh: {}", std::strerror(errno))};
    pipe_ends made{unique_fd{ends[0]}, unique_fd{ends[1]}};
    ::fcntl(made.ours.get(), F_SETFL, O_NONBLOCK);
    return made;
}

// Runs between fork and exec, so only what is async-signal-safe. Returns if the program cannot be
// started.
void run_ssh(char* const* command, sigset_t const& mask, int input, int output, int errors)
{
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    ::execvp(command[0], command);
    for (char const* const each :
         {static_cast<char const*>(command[0]), ": cannot be started: ", ::strerrordesc_np(errno),
          ": install the package openssh-client, or name the program with --ssh\n"})
        static_cast<void>(!::write(STDERR_FILENO, each, std::strlen(each)));
}

// Reads what is there. At its end it is closed, so that nothing waits for it any more.
void read_into(std::string& text, unique_fd& fd)
{
    std::array<char, 65536> block;
    while (fd) {
        ssize_t const size = ::recv(fd.get(), block.data(), block.size(), MSG_DONTWAIT);
        if (size < 0 && errno == EINTR)
            continue;
        if (size == 0)
            fd.reset();
        if (size <= 0)
            return;
        text.append(block.data(), static_cast<std::size_t>(size));
    }
}

} // namespace

channel::channel(std::vector<std::string> const& command, sigset_t const& mask)
{
    std::vector<char*> words;
    for (std::string const& each : command)
        words.push_back(const_cast<char*>(each.c_str())); // execvp does not write there.
    words.push_back(nullptr);
    pipe_ends input = make_pipe();
    pipe_ends output = make_pipe();
    pipe_ends errors = make_pipe();
    pid_ = ::fork();
    if (pid_ == 0) {
        run_ssh(words.data(), mask, input.theirs.get(), output.theirs.get(), errors.theirs.get());
        ::_exit(127);
    }
    if (pid_ < 0)
        throw std::runtime_error{
            fmt::format("{} cannot be started: {}", command.front(), std::strerror(errno))};
    input_ = std::move(input.ours);
    output_ = std::move(output.ours);
    errors_ = std::move(errors.ours);
}

channel::~channel()
{
    input_.reset();
    if (has_ended_)
        return;
    // Its session has its own programs only, such as a ProxyCommand.
    ::kill(-pid_, SIGTERM);
    ::kill(pid_, SIGTERM);
    for (auto waited = 0ms; waited < end_patience && !ended(); waited += end_step)
        std::this_thread::sleep_for(end_step);
    if (!has_ended_) {
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

void channel::send(std::string bytes)
{
    if (!input_ || bytes.empty())
        return;
    queued_ += bytes;
    flush();
}

void channel::close_input() noexcept
{
    queued_.clear();
    sent_ = 0;
    input_.reset();
}

bool channel::flush() noexcept
{
    bool any = false;
    while (sent_ != queued_.size()) {
        ssize_t const size = ::send(
            input_.get(), queued_.data() + sent_, queued_.size() - sent_,
            MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return any;
        if (size <= 0)
            break; // It reads no more: its end says why.
        sent_ += static_cast<std::size_t>(size);
        any = true;
    }
    queued_.clear();
    sent_ = 0;
    return any;
}

std::string channel::read_output()
{
    std::string found;
    read_into(found, output_);
    return found;
}

void channel::read_errors()
{
    read_into(complaints_, errors_);
    if (complaints_.size() > complaints_max)
        complaints_.erase(0, complaints_.size() - complaints_max);
}

std::optional<std::string> channel::ended()
{
    int status = 0;
    if (has_ended_ || ::waitpid(pid_, &status, WNOHANG) != pid_)
        return std::nullopt;
    has_ended_ = true;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return WIFEXITED(status) ? fmt::format("ended with code {}", exit_code_)
                             : fmt::format("was ended by signal {}", WTERMSIG(status));
}

std::vector<std::string> ssh_command(
    std::vector<std::string> const& ssh, std::string const& destination, std::string const& port,
    std::vector<std::string> const& arguments)
{
    std::vector<std::string> words = ssh;
    // A password cannot be asked for; a host that is gone is noticed within 15 seconds.
    for (char const* const each :
         {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3",
          "ClearAllForwardings=yes"}) {
        words.emplace_back("-o");
        words.emplace_back(each);
    }
    words.emplace_back("-T");
    if (!port.empty()) {
        words.emplace_back("-p");
        words.push_back(port);
    }
    std::string command = fmt::format("exec sh -c {} cleat-bench", shell_quoted(remote_script()));
    for (std::string const& each : arguments)
        command += ' ' + shell_quoted(each);
    words.insert(words.end(), {"--", destination, command});
    return words;
}

} // namespace cleat::bench
