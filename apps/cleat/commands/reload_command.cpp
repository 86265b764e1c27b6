#include "commands/reload_command.hpp"
#include "process/control_socket.hpp"
#include "process/process.hpp"
#include "standard_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

namespace cleat::app {
namespace {

// 0: there is none, which has been reported.
pid_t find_process(reload_running const& request)
{
    if (request.process)
        return *request.process;
    if (!request.pidfile.empty()) {
        pid_t const found = pid_file::holder(request.pidfile);
        if (found == 0)
            complain("cleat: {} names no running cleat\n", request.pidfile);
        return found;
    }
    std::vector<pid_t> const running = running_cleats();
    if (running.empty())
        complain("cleat: no cleat runs here\n");
    else if (running.size() > 1)
        complain(
            "cleat: several run here: name one of the processes {}, or its pid file\n",
            fmt::join(running, ", "));
    return running.size() == 1 ? running.front() : 0;
}

std::string explanation(pid_t process, error_code why)
{
    if (why == boost::system::errc::connection_refused)
        return fmt::format("process {} is no cleat that takes commands here", process);
    if (why == boost::system::errc::no_such_process)
        return fmt::format("process {} has ended", process);
    return fmt::format("cannot ask process {}: {}", process, why.message());
}

} // namespace

int reload_a_running_cleat(reload_running const& request)
{
    pid_t const process = find_process(request);
    if (process == 0)
        return EXIT_FAILURE;
    result<command_answer> const answer = ask(process, "reload");
    if (!answer) {
        complain("cleat: {}\n", explanation(process, answer.error()));
        return EXIT_FAILURE;
    }
    if (answer->exit_code == 0)
        fmt::print("{}", answer->text);
    else
        complain("{}", answer->text);
    return answer->exit_code;
}

} // namespace cleat::app
