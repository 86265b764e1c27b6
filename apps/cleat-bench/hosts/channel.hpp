// channel: ssh as a child process, with its standard input, output and error.

#pragma once

#include <cleat/core/unique_fd.hpp>

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace cleat::bench {

/// channel is a running ssh in a session of its own, so that the terminal's Ctrl-C does not reach
/// it: the host gets a command to stop, and gives what it has. The destructor ends it; the kernel
/// sends it SIGTERM if this process dies.
class channel
{
public:
    /// `mask` is its signal mask. Throws std::runtime_error that names the program and the cure.
    channel(std::vector<std::string> const& command, sigset_t const& mask);
    channel(channel&&) = delete;
    ~channel();

    /// send queues bytes for its standard input, and sends what it takes now.
    void send(std::string bytes);

    /// close_input ends its standard input; what is queued is dropped.
    void close_input() noexcept;

    /// flush sends what its standard input takes now; true: it has taken some.
    bool flush() noexcept;

    /// read_output gives what has come on its standard output; read_errors keeps its standard error
    /// in complaints.
    [[nodiscard]] std::string read_output();
    void read_errors();

    /// ended is how it ended, "ended with code 255"; unset while it runs.
    [[nodiscard]] std::optional<std::string> ended();

    /// has_ended: ended has said so, and all that it wrote was read.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

    [[nodiscard]] std::string const& complaints() const noexcept { return complaints_; }
    /// exit_code is that of the host's command, or 255 of ssh's own failure; -1: none yet.
    [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

    [[nodiscard]] int input_fd() const noexcept { return queued_.empty() ? -1 : input_.get(); }
    [[nodiscard]] int output_fd() const noexcept { return output_.get(); }
    [[nodiscard]] int errors_fd() const noexcept { return errors_.get(); }

private:
    pid_t pid_ = -1;
    unique_fd input_;
    unique_fd output_;
    unique_fd errors_;
    std::string queued_;
    std::size_t sent_ = 0; // Of what is queued.
    std::string complaints_;
    bool has_ended_ = false;
    int exit_code_ = -1;
};

/// ssh_command is the command line that runs remote_script on a host with these arguments. The
/// user's options come first: of two, ssh takes the first.
[[nodiscard]] std::vector<std::string> ssh_command(
    std::vector<std::string> const& ssh, std::string const& destination, std::string const& port,
    std::vector<std::string> const& arguments);

} // namespace cleat::bench
