// control_socket: where a running cleat takes commands of the program `cleat`: `cleat reload`.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <sys/un.h>

namespace cleat::app {

/// control_name is the abstract name of the socket of a process: it needs no folder that a
/// configuration would have to name, and vanishes with the process.
[[nodiscard]] std::string control_name(pid_t process);

/// command_answer is what the asker prints, and its exit code.
struct command_answer
{
    int exit_code = 0;
    std::string text;
};

/// control_socket is the running cleat's end. The kernel says which user an asker is: others than
/// root and the user that cleat runs as are refused.
class control_socket
{
public:
    /// A command, and where its answer goes.
    struct command
    {
        std::string text;
        sockaddr_un asker{};
        socklen_t asker_size = 0;
    };

    /// Not open.
    control_socket() noexcept = default;

    /// open takes the name of this process.
    [[nodiscard]] static result<control_socket> open();

    /// native_handle is readable when a command has come; -1 while it is not open, which poll(2)
    /// leaves out.
    [[nodiscard]] int native_handle() const noexcept { return fd_.get(); }

    /// next is a command that has come, if there is one.
    [[nodiscard]] std::optional<command> next() const;

    /// answer does not wait for the asker, who may be gone.
    void answer(command const& answered, command_answer const& how) const noexcept;

private:
    unique_fd fd_;
};

/// ask sends a command to a running cleat, and waits for its answer, or for the end of the process.
[[nodiscard]] result<command_answer> ask(pid_t process, std::string_view command);

/// running_cleats are the processes with a control socket in this network and PID namespace. Where
/// some of them take this user's signals, the others are left out.
[[nodiscard]] std::vector<pid_t> running_cleats();

} // namespace cleat::app
