#include "reload/reload_sequence.hpp"
#include "supervise.hpp"
#include "watch/change_trigger.hpp"
#include "watch/file_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include <poll.h>

namespace cleat::app {
namespace {

using clock = std::chrono::steady_clock;

// How often certificates are looked at that have come nearer to their end.
constexpr std::chrono::hours expiry_interval{1};

// The state between signals and commands: the askers that wait for a reload, whether the workers
// drain, until when, and whether they are ending.
class supervisor
{
public:
    supervisor(
        worker_group& workers, notify_socket const& notify, control_socket const& control,
        std::vector<std::string> const& command_line, std::string const& folder)
        : workers_{workers}
        , notify_{notify}
        , control_{control}
        , reloads_{
              workers,
              command_line,
              folder,
              {.begun = [this] { reload_begun(); },
               .ended = [this](reload_outcome const& outcome) { reload_ended(outcome); }}}
    {
        note(notify_.ready(status()));
        watch_files({.done = true});
        look_for_expiries();
    }

    // Until a descriptor is readable, or it is time for on_time.
    void wait(signals const& arrived) const
    {
        std::array<pollfd, 4> fds{
            pollfd{arrived.native_handle(), POLLIN, 0}, pollfd{workers_.news(), POLLIN, 0},
            pollfd{control_.native_handle(), POLLIN, 0}, pollfd{watch_.native_handle(), POLLIN, 0}};
        static_cast<void>(::poll(fds.data(), fds.size(), timeout_ms()));
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

    void on_commands()
    {
        while (std::optional<control_socket::command> asked = control_.next()) {
            if (asked->text != "reload") {
                control_.answer(*asked, {2, "cleat: this version knows no such command\n"});
                continue;
            }
            askers_.push_back(std::move(*asked));
            reloads_.request();
        }
    }

    void on_time()
    {
        reloads_.go_on();
        reload_after_changes();
        if (clock::now() >= next_expiry_look_)
            look_for_expiries();
        if (draining_ && clock::now() >= deadline_)
            end_now("shutdown-timeout");
        if (notify_.watchdog_interval() && clock::now() >= next_sign_of_life_)
            give_sign_of_life();
    }

private:
    [[nodiscard]] logger const& log() const noexcept { return workers_.present().log; }

    [[nodiscard]] int timeout_ms() const
    {
        clock::time_point next = next_expiry_look_;
        if (draining_ && !ending_)
            next = std::min(next, deadline_);
        if (notify_.watchdog_interval())
            next = std::min(next, next_sign_of_life_);
        next = std::min(next, watch_.next_comparison().value_or(clock::time_point::max()));
        if (!reloads_.is_busy()) // Its end wakes us.
            next = std::min(next, trigger_.due().value_or(clock::time_point::max()));
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
    }

    void drain()
    {
        std::chrono::seconds const timeout =
            *workers_.present().configuration->settings.shutdown_timeout;
        log().info("draining").add("timeout_s", timeout.count());
        draining_ = true;
        deadline_ = clock::now() + timeout;
        stop_reloading();
        workers_.drain();
    }

    void end_now(std::string_view why)
    {
        if (ending_)
            return;
        log().info("ending").add("reason", why);
        ending_ = true;
        stop_reloading();
        workers_.interrupt();
    }

    [[nodiscard]] bool is_stopping() const noexcept { return draining_ || ending_; }

    void stop_reloading()
    {
        note(notify_.stopping());
        reloads_.stop();
        watch_.stop();
        trigger_ = {};
    }

    // Askers that come from now on are answered by the next reload.
    void reload_begun()
    {
        asked_for_this_ = std::exchange(askers_, {});
        if (!is_stopping())
            note(notify_.reloading());
    }

    void reload_ended(reload_outcome const& outcome)
    {
        if (!is_stopping())
            note(notify_.ready(status()));
        for (control_socket::command const& each : asked_for_this_)
            control_.answer(each, {outcome.done ? 0 : 1, to_text(outcome)});
        asked_for_this_.clear();
        if (is_stopping())
            return;
        watch_files(outcome);
        if (outcome.done)
            look_for_expiries();
        if (outcome.is_final)
            trigger_.settled();
        else
            trigger_.refused();
    }

    // Those of a configuration that could not be used, too: one that it names may be about to come.
    void watch_files(reload_outcome const& last)
    {
        snapshot const& configuration = *workers_.present().configuration;
        if (!*configuration.settings.reload_on_change)
            return watch_.stop();
        if (!last.done && last.watched.files.empty())
            return; // It was not read that far.
        watch_plan const& read = last.done ? configuration.watched : last.watched;
        watched_files files = configuration.watched.files;
        add_files(files, read.files);
        if (error_code const ec = watch_.watch(std::move(files)))
            log()
                .warning("watching-by-comparison")
                .add("reason", ec)
                .add("cure", "raise fs.inotify.max_user_watches or max_user_instances");
        if (last.done)
            for (std::string const& folder : watch_.unreadable())
                log()
                    .warning("not-watched")
                    .add("folder", folder)
                    .add("cure", "let the user that cleat runs as read it, or use cleat reload");
        // A file that changed after it was read, and before it was watched, is a change.
        if (status_of(read.files) != read.status)
            trigger_.changed(clock::now());
    }

    void look_for_expiries()
    {
        next_expiry_look_ = clock::now() + expiry_interval;
        snapshot const& configuration = *workers_.present().configuration;
        expiries_.look(
            [&](expiry_log::each_certificate const& use) { find_ends(configuration, use); },
            std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()), log());
    }

    void reload_after_changes()
    {
        clock::time_point const now = clock::now();
        if (watch_.take_changes())
            trigger_.changed(now);
        bool const is_due = trigger_.due() && now >= *trigger_.due();
        if (is_due && !reloads_.is_busy())
            reloads_.request(!trigger_.begin(now));
    }

    // Only when every worker has answered since the last time.
    void give_sign_of_life()
    {
        next_sign_of_life_ = clock::now() + *notify_.watchdog_interval();
        if (workers_.all_have_answered())
            note(notify_.alive());
        workers_.ask_for_answers();
    }

    void note(error_code failed)
    {
        if (failed && !std::exchange(notify_failed_, true))
            log().warning("not-notified").add("reason", failed);
    }

    [[nodiscard]] std::string status() const
    {
        snapshot const& configuration = *workers_.present().configuration;
        return fmt::format(
            "serving with {} workers on {} addresses, {} certificates", workers_.size(),
            workers_.places().size(), count_certificates(configuration));
    }

    worker_group& workers_;
    notify_socket const& notify_;
    bool notify_failed_ = false; // Its first failure has been logged.
    control_socket const& control_;
    std::vector<control_socket::command> askers_;         // They wait for the next reload,
    std::vector<control_socket::command> asked_for_this_; // and these for the one under way.
    reload_sequence reloads_;
    file_watch watch_;
    change_trigger trigger_;
    expiry_log expiries_;
    clock::time_point next_expiry_look_{};
    clock::time_point next_sign_of_life_{};
    clock::time_point deadline_{}; // While draining_.
    bool draining_ = false;
    bool ending_ = false;
};

} // namespace

void supervise(
    worker_group& workers, signals& arrived, notify_socket const& notify,
    control_socket const& control, std::vector<std::string> const& command_line,
    std::string const& folder)
{
    supervisor state{workers, notify, control, command_line, folder};
    while (workers.running() != 0) {
        state.wait(arrived);
        workers.take_news();
        while (int const number = arrived.next())
            state.on_signal(number);
        state.on_commands();
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
