#include "commands/as_host.hpp"
#include "generate/run.hpp"
#include "hosts/host_lines.hpp"
#include "hosts/progress_json.hpp"
#include "system/interruption.hpp"
#include "text/numbers.hpp"

#include <cleat/core/unique_fd.hpp>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using time_point = std::chrono::system_clock::time_point;

// Writes a whole line in one call, where the kernel takes it: two threads write.
void say(std::string_view words)
{
    std::string const line = fmt::format("{}{}\n", host_mark, words);
    std::string_view left{line};
    while (!left.empty()) {
        ssize_t const size = ::write(STDOUT_FILENO, left.data(), left.size());
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            throw std::runtime_error{
                fmt::format("standard output: {}: nothing leads this host", std::strerror(errno))};
        left.remove_prefix(static_cast<std::size_t>(size));
    }
}

// leader_input reads the commands of the machine that leads this host, on a thread of its own: a
// question for the time is answered at once, and a load is ended at once. The signals that end the
// program are held back when it is made.
class leader_input
{
public:
    leader_input() : end_{::eventfd(0, EFD_CLOEXEC)}, reader_{[this] { read_lines(); }} {}
    leader_input(leader_input&&) = delete;
    ~leader_input()
    {
        std::uint64_t const one = 1;
        static_cast<void>(!::write(end_.get(), &one, sizeof one));
        reader_.join();
    }

    // Unset: there will be no start.
    [[nodiscard]] std::optional<time_point> wait_for_start() { return start_.get_future().get(); }

private:
    void read_lines()
    {
        line_buffer lines;
        std::array<char, 4096> block;
        for (;;) {
            pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {end_.get(), POLLIN, 0}};
            ::poll(fds, 2, -1);
            if (fds[1].revents != 0)
                break;
            if (fds[0].revents == 0)
                continue;
            ssize_t const size = ::read(STDIN_FILENO, block.data(), block.size());
            if (size < 0 && errno == EINTR)
                continue;
            bool goes_on = size > 0;
            if (goes_on)
                for (std::string const& line :
                     lines.take({block.data(), static_cast<std::size_t>(size)}))
                    goes_on = goes_on && take(line);
            if (goes_on)
                continue;
            // The load, or the preflight, ends as by Ctrl-C.
            ::kill(::getpid(), SIGINT);
            break;
        }
        if (!is_started_)
            start_.set_value(std::nullopt);
    }

    // False: the load ends.
    bool take(std::string_view line)
    try {
        std::string_view const word = cut_word(line);
        if (word == "clock") {
            say(fmt::format(
                "clock {} {}", line,
                std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count()));
            return true;
        }
        std::optional<std::int64_t> const start = parse_whole<std::int64_t>(line);
        if (word != "start" || !start || is_started_)
            return false;
        is_started_ = true;
        start_.set_value(time_point{
            std::chrono::duration_cast<time_point::duration>(std::chrono::nanoseconds{*start})});
        return true;
    } catch (std::runtime_error const&) {
        return false;
    }

    unique_fd end_;
    std::promise<std::optional<time_point>> start_;
    bool is_started_ = false; // The reader's.
    std::thread reader_;      // Uses all members before it.
};

} // namespace

int load_as_host(load_request const& request)
{
    ::signal(SIGPIPE, SIG_IGN); // An output that is gone is an error of its own.
    interruption signals;
    leader_input orders;
    result found = begin_result(request);
    say("ready");
    std::optional<time_point> const start = orders.wait_for_start();
    if (!start)
        throw interrupted{};
    run_control control;
    control.start_at = start;
    control.may_be_late = true;
    control.watch = [](progress const& now) {
        try {
            say("progress " + to_line(now));
            return proceed::go_on;
        } catch (std::runtime_error const&) {
            return proceed::stop;
        }
    };
    run_into(found, request, control);
    std::string document = to_json(found);
    document.pop_back(); // Its line break.
    say("document " + document);
    return EXIT_SUCCESS;
}

} // namespace cleat::bench
