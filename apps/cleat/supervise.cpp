#include "reload/reload_sequence.hpp"
#include "supervise.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>

namespace cleat::app {
namespace {

using clock = std::chrono::steady_clock;

// The state between signals: whether the workers drain, until when, and whether they are ending.
class supervisor
{
public:
    supervisor(
        worker_group& workers, std::vector<std::string> const& command_line,
        std::string const& folder)
        : workers_{workers}, reloads_{workers, command_line, folder}
    {
    }

    void on_signal(int number)
    {
        switch (number) {
        case SIGTERM:
            return draining_ ? end_now("SIGTERM") : drain();
        case SIGINT:
            return end_now("SIGINT");
        case SIGUSR1:
            if (error_code const ec = workers_.present().sink->reopen())
                log().error("log-not-reopened").add("reason", ec);
            return;
        case SIGHUP:
            return reloads_.request();
        default:
            return;
        }
    }

    void on_time()
    {
        reloads_.go_on();
        if (draining_ && clock::now() >= deadline_)
            end_now("shutdown-timeout");
    }

    [[nodiscard]] int reload_done() const noexcept { return reloads_.done(); }

    [[nodiscard]] int timeout_ms() const
    {
        if (!draining_ || ending_)
            return -1;
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
    }

private:
    [[nodiscard]] logger const& log() const noexcept { return workers_.present().log; }

    void drain()
    {
        std::chrono::seconds const timeout =
            *workers_.present().configuration->settings.shutdown_timeout;
        log().info("draining").add("timeout_s", timeout.count());
        draining_ = true;
        deadline_ = clock::now() + timeout;
        reloads_.stop();
        workers_.drain();
    }

    void end_now(std::string_view why)
    {
        if (ending_)
            return;
        log().info("ending").add("reason", why);
        ending_ = true;
        reloads_.stop();
        workers_.interrupt();
    }

    worker_group& workers_;
    reload_sequence reloads_;
    clock::time_point deadline_{}; // While draining_.
    bool draining_ = false;
    bool ending_ = false;
};

} // namespace

void supervise(
    worker_group& workers, signals& arrived, std::vector<std::string> const& command_line,
    std::string const& folder)
{
    supervisor state{workers, command_line, folder};
    while (workers.running() != 0) {
        std::array<pollfd, 3> fds{
            pollfd{arrived.native_handle(), POLLIN, 0}, pollfd{workers.news(), POLLIN, 0},
            pollfd{state.reload_done(), POLLIN, 0}};
        static_cast<void>(::poll(fds.data(), fds.size(), state.timeout_ms()));
        workers.take_news();
        while (int const number = arrived.next())
            state.on_signal(number);
        state.on_time();
    }
    std::uint64_t finished = 0;
    for (std::size_t i = 0; i < close_reason_count; ++i)
        finished += workers.closed(static_cast<close_reason>(i));
    std::uint64_t const cut = workers.closed(close_reason::stopped);
    // Connections that were cut off are worth a line at the default log level too.
    workers.present()
        .log.line(cut == 0 ? log_level::info : log_level::warning, "ended")
        .add("connections_finished", finished - cut)
        .add("connections_cut", cut);
}

} // namespace cleat::app
