#include "supervise.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include <poll.h>

namespace cleat::app {
namespace {

using clock = std::chrono::steady_clock;

// The state between signals: whether the workers drain, until when, and whether they are ending.
class supervisor
{
public:
    supervisor(worker_group& workers, config const& settings, log_sink& sink, logger const& log)
        : workers_{workers}, settings_{settings}, sink_{sink}, log_{log}
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
            if (error_code const ec = sink_.reopen())
                log_.error("log-not-reopened").add("reason", ec);
            return;
        case SIGHUP:
            log_.error("reload-unsupported")
                .add("cure", "restart: this version reads its configuration at start only");
            return;
        default:
            return;
        }
    }

    void on_time()
    {
        if (draining_ && clock::now() >= deadline_)
            end_now("shutdown-timeout");
    }

    [[nodiscard]] int timeout_ms() const
    {
        if (!draining_ || ending_)
            return -1;
        auto const left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline_ - clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
    }

private:
    void drain()
    {
        log_.info("draining").add("timeout_s", settings_.shutdown_timeout->count());
        draining_ = true;
        deadline_ = clock::now() + *settings_.shutdown_timeout;
        workers_.drain();
    }

    void end_now(std::string_view why)
    {
        if (ending_)
            return;
        log_.info("ending").add("reason", why);
        ending_ = true;
        workers_.interrupt();
    }

    worker_group& workers_;
    config const& settings_;
    log_sink& sink_;
    logger const& log_;
    clock::time_point deadline_{}; // While draining_.
    bool draining_ = false;
    bool ending_ = false;
};

} // namespace

void supervise(
    worker_group& workers, signals& arrived, config const& settings, log_sink& sink,
    logger const& log)
{
    supervisor state{workers, settings, sink, log};
    while (workers.running() != 0) {
        std::array<pollfd, 2> fds{
            pollfd{arrived.native_handle(), POLLIN, 0}, pollfd{workers.ended(), POLLIN, 0}};
        static_cast<void>(::poll(fds.data(), fds.size(), state.timeout_ms()));
        workers.take_ended();
        while (int const number = arrived.next())
            state.on_signal(number);
        state.on_time();
    }
    std::uint64_t finished = 0;
    for (std::size_t i = 0; i < close_reason_count; ++i)
        finished += workers.closed(static_cast<close_reason>(i));
    std::uint64_t const cut = workers.closed(close_reason::stopped);
    // Connections that were cut off are worth a line at the default log level too.
    log.line(cut == 0 ? log_level::info : log_level::warning, "ended")
        .add("connections_finished", finished - cut)
        .add("connections_cut", cut);
}

} // namespace cleat::app
