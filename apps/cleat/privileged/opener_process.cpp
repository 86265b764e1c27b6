#include "command_line/command.hpp"
#include "privileged/confinement.hpp"
#include "privileged/opener_process.hpp"
#include "privileged/opener_service.hpp"
#include "privileged/permissions.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// Its own session, so that no terminal's signal comes, and root's number: cleat's user can send it
// none. Signals to a whole service or process group are for cleat: the opener ends after it.
void leave_the_others() noexcept
{
    ::setsid();
    ::prctl(PR_SET_NAME, "cleat-opener", 0, 0, 0);
    for (int const each : {SIGINT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE})
        ::signal(each, SIG_IGN); // NOLINT: the handler is none of ours.
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Descriptors that others wait for the end of: a pipe of the terminal's, a socket of systemd's.
void close_all_but(opener_channels& channels) noexcept
{
    int next = STDERR_FILENO + 1;
    for (unique_fd& each : channels) {
        unique_fd high{
            ::fcntl(each.get(), F_DUPFD_CLOEXEC, next + static_cast<int>(channels.size()))};
        each.reset(high.release());
    }
    for (unique_fd& each : channels) {
        ::dup3(each.get(), next, O_CLOEXEC);
        each.reset(next++);
    }
    rlimit allowed{};
    if (::syscall(SYS_close_range, next, ~0U, 0) != 0 && // Linux before 5.9.
        ::getrlimit(RLIMIT_NOFILE, &allowed) == 0)
        for (int each = next; static_cast<rlim_t>(each) < allowed.rlim_cur; ++each)
            ::close(each);
    unique_fd const null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    for (int const standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(null.get(), standard);
}

// RLIMIT_NOFILE stays: the kernel compares it with the descriptors that all of root's processes
// have sent and nobody has received yet, too (unix(7), ETOOMANYREFS).
void leave_no_core() noexcept
{
    rlimit const none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
}

// The first message: cleat waits for it.
void tell(opener_channels const& channels, confinement_failure const& failure)
{
    opener_answer const answer{failure.error, failure.step == nullptr ? "" : failure.step};
    static_cast<void>(send_message(channels.front().get(), encode(answer)));
}

// False: cleat is gone, or does not take its answers.
bool serve_channel(int channel, opener_service& service)
{
    result<descriptor_message> const got = receive_message(channel, request_max);
    if (!got || got->is_end)
        return false;
    opener_service::reply const reply = service.serve_one(*got);
    error_code const unsent = send_message(channel, encode(reply.answer), reply.fd.get());
    // Other processes of root's may have too many descriptors under way.
    if (unsent.value() == ETOOMANYREFS)
        return !send_message(channel, encode(opener_answer{ETOOMANYREFS, {}}));
    return !unsent;
}

void serve_until_the_end(opener_channels const& channels, opener_service& service)
{
    std::array<pollfd, opener_channels_max> waiting{};
    std::ranges::transform(channels, waiting.begin(), [](unique_fd const& each) {
        return pollfd{each.get(), POLLIN, 0};
    });
    for (;;) {
        if (::poll(waiting.data(), waiting.size(), -1) < 0)
            continue;
        for (pollfd const& each : waiting)
            if (each.revents != 0 && !serve_channel(each.fd, service))
                return;
    }
}

bool writes_logs(config const& settings)
{
    return !log_files_of(settings).empty();
}

} // namespace

void run_opener(opener_channels channels, serve const& start, std::string const& folder) noexcept
{
    leave_the_others();
    close_all_but(channels);
    leave_no_core();
    ::umask(027);
    try {
        unique_fd root{::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        static_cast<void>(::chdir("/") == 0); // A file system with a process in it stays mounted.
        confinement_failure failure = keep_capabilities(writes_logs(start.settings));
        if (failure.step == nullptr)
            failure = confine_system_calls(writes_logs(start.settings));
        if (failure.step != nullptr) {
            tell(channels, failure);
            ::_exit(EXIT_FAILURE);
        }
        opener_service service{start, folder, trusted_paths{std::move(root)}};
        tell(channels, {});
        serve_until_the_end(channels, service);
    } catch (std::exception const&) { // Without memory: cleat sees the end, and says so.
        ::_exit(EXIT_FAILURE);
    }
    ::_exit(EXIT_SUCCESS);
}

} // namespace cleat::app
