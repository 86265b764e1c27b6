#include "access/access_log_watch.hpp"
#include "health/check_control.hpp"
#include "memory/heap_trimmer.hpp"
#include "privileged/opener_watch.hpp"
#include "reload/reload_sequence.hpp"
#include "start/start.hpp"
#include "supervise/admin_control.hpp"
#include "supervise/change_watch.hpp"
#include "supervise/epoch_watch.hpp"
#include "supervise/index_writer.hpp"
#include "supervise/memory_watch.hpp"
#include "supervise/name_watch.hpp"
#include "supervise/reload_askers.hpp"
#include "supervise/shutdown_sequence.hpp"
#include "supervise/supervise.hpp"
#include "system/low_priority.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>

namespace cleat::app {
namespace {

using clock = std::chrono::steady_clock;

constexpr clock::time_point never = clock::time_point::max();

// The time between two searches for certificates that expire soon.
constexpr std::chrono::hours expiry_interval{1};

// After a reload of a few among many certificates.
constexpr std::chrono::minutes look_again_after{1};

int milliseconds_until(clock::time_point time)
{
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(time - clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

std::chrono::sys_seconds seconds_now()
{
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// For systemctl status.
std::string service_status(worker_group const& workers)
{
    return fmt::format(
        "serving with {} workers on {} addresses, {} certificates", workers.size(),
        workers.places().size(), count_certificates(*workers.present().configuration));
}

// A relative name of the log begins in the folder of the start, which a daemon has left.
void report_reopening(
    generation const& present, start_facts const& start, std::string_view event,
    std::string const& file, log_sink::reopening const& failed)
{
    if (!failed.error)
        return;
    bool const is_limit =
        start.limits.denies_logging((std::filesystem::path{start.folder} / file).string());
    auto line = present.log.error(event);
    line.add("reason", failed.error);
    if (!failed.refusal.empty())
        line.add("refusal", failed.refusal);
    line.add("file", file)
        .add(
            "cure", is_limit ? "the sandbox does not know the folder, which has replaced the "
                               "log's: restart cleat"
                             : cure_for_reopening(failed.error, failed.refusal));
}

void reopen_logs(generation const& present, start_facts const& start)
{
    config const& settings = present.configuration->settings;
    report_reopening(
        present, start, "log-not-reopened", *settings.log_filename, present.sink->reopen());
    if (present.access)
        report_reopening(
            present, start, "access-log-not-reopened", *settings.access_log,
            present.access->reopen());
}

// Of certificates, and of CRLs.
struct end_logs
{
    expiry_log certificates;
    crl_log crls;
};

void log_stale_crls(end_logs& ends, generation const& present)
{
    ends.crls.look(present.configuration->crl_ends, seconds_now(), present.log);
}

void log_expiries(end_logs& ends, generation const& present)
{
    ends.certificates.look(
        [&](expiry_log::each_certificate const& use) { find_ends(*present.configuration, use); },
        seconds_now(), present.log);
    log_stale_crls(ends, present);
}

clock::time_point next_look(crl_log const& crls)
{
    std::optional<crl_log::time_point> const stale = crls.next();
    return stale ? clock::now() +
                       std::min<std::chrono::seconds>(*stale - seconds_now(), expiry_interval)
                 : never;
}

// The service manager's watchdog, and the log of a manager that cannot be reached.
class service_notifier
{
public:
    explicit service_notifier(notify_socket const& notify) : notify_{notify} {}

    // Only the first failure is logged.
    void note(error_code failed, logger const& log)
    {
        if (failed && !std::exchange(has_failed_, true))
            log.warning("not-notified").add("reason", failed);
    }

    // Tells the watchdog that the program is alive, where it is time.
    void look(worker_group const& workers)
    {
        clock::time_point const now = clock::now();
        if (now < next_look())
            return;
        next_sign_of_life_ = now + *notify_.watchdog_interval();
        if (workers.watch().are_alive(now, *notify_.watchdog_interval()))
            note(notify_.alive(), workers.present().log);
    }

    [[nodiscard]] clock::time_point next_look() const
    {
        return notify_.watchdog_interval() ? next_sign_of_life_ : never;
    }

private:
    notify_socket const& notify_;
    bool has_failed_ = false;
    clock::time_point next_sign_of_life_{};
};

watched_memory watched(worker_group& workers, heap_trimmer& heap, std::atomic<bool> const& can_trim)
{
    return {
        .count = [&workers](memory_reading& reading) { workers.count(reading); },
        .give = [&workers](memory_share share) { workers.give(share); },
        .trim =
            [&heap, &can_trim] {
                if (can_trim)
                    heap.request();
            },
        .wake = [&workers] { workers.wake(); },
        .workers = workers.size()};
}

// The steps of a shutdown, on the workers and in the log.
class shutdown_control
{
public:
    // begun is called once, before anything else: it turns /readyz.
    shutdown_control(worker_group& workers, std::function<void()> begun)
        : workers_{workers}, begun_{std::move(begun)}
    {
    }

    // The next step; `why` it comes, a literal, for the log.
    void advance(std::string_view why) { take(sequence_.advance(clock::now(), times()), why); }

    // The last one.
    void end(std::string_view why) { take(sequence_.end(), why); }

    // look does what is due, and what there was no memory for.
    void look()
    {
        if (is_undone_)
            act();
        if (clock::now() >= sequence_.deadline())
            advance("shutdown-timeout");
    }

    [[nodiscard]] bool has_begun() const noexcept
    {
        return sequence_.present() != shutdown_sequence::step::serving;
    }

    // For the next look.
    [[nodiscard]] clock::time_point deadline() const noexcept
    {
        return is_undone_ ? clock::time_point{} : sequence_.deadline();
    }

private:
    [[nodiscard]] shutdown_times times() const
    {
        config const& settings = workers_.present().configuration->settings;
        return {*settings.drain_delay, *settings.shutdown_timeout};
    }

    void take(std::optional<shutdown_sequence::step> next, std::string_view why)
    {
        if (!next)
            return;
        is_undone_ = true;
        why_ = why;
        act();
    }

    // Throws std::bad_alloc, and may be called again.
    void act()
    {
        if (begun_)
            begun_();
        begun_ = {};
        logger const& log = workers_.present().log;
        switch (sequence_.present()) {
        case shutdown_sequence::step::serving:
            break;
        case shutdown_sequence::step::announced:
            log.info("drain-announced").add("delay_s", times().delay.count());
            break;
        case shutdown_sequence::step::draining:
            log.info("draining").add("timeout_s", times().timeout.count());
            workers_.drain();
            break;
        case shutdown_sequence::step::ending:
            log.info("ending").add("reason", why_);
            workers_.interrupt();
            break;
        }
        is_undone_ = false;
    }

    worker_group& workers_;
    std::function<void()> begun_;
    shutdown_sequence sequence_;
    bool is_undone_ = false; // The present step: memory ran out.
    std::string_view why_;
};

// The state between signals and commands: the askers that wait for a reload, and how far a shutdown
// has come.
class supervisor
{
public:
    supervisor(
        worker_group& workers, notify_socket const& notify, control_socket const& control,
        start_facts const& start)
        : workers_{workers}
        , notify_{notify}
        , control_{control}
        , start_{start}
        , opener_{start.root_files}
        , memory_{watched(workers, heap_, can_trim_)}
        , admin_{workers, access_, names_, epochs_, start.limits.facts(), memory_.counts()}
        , reloads_{
              workers,
              start,
              {.begun = [this] { return reload_begun(); },
               .ended = [this](reload_outcome const& outcome) { reload_ended(outcome); }}}
    {
        epochs_.look(log(), false); // Workers begin with chain keys of before.
        checks_.follow(log());
        watch_.follow(*workers_.present().configuration, {.done = true}, log());
        follow_logs_and_admin();
        notifier_.note(notify_.ready(service_status(workers_)), log());
        look_for_expiries();
        index_.follow(workers_.present());
    }

    // The workers have ended. A reload that the end has cut off may have replaced the access log.
    void finish()
    {
        index_.finish(workers_.present());
        access_.follow(workers_.present().access);
        workers_.end_access_logs();
        access_.finish(log());
    }

    // Until a descriptor is readable, or it is time for on_time.
    void wait(signals const& arrived) const
    {
        auto const [present_files, refused_files] = watch_.native_handles();
        std::array<pollfd, 6> fds{
            pollfd{arrived.native_handle(), POLLIN, 0},
            pollfd{workers_.news(), POLLIN, 0},
            pollfd{control_.native_handle(), POLLIN, 0},
            pollfd{present_files, POLLIN, 0},
            pollfd{refused_files, POLLIN, 0},
            pollfd{opener_.native_handle(), 0, 0}};
        static_cast<void>(::poll(fds.data(), fds.size(), timeout_ms()));
    }

    // turn does what has come and what time has made due; where there is no memory, the next one
    // goes on from there.
    void turn(signals& arrived)
    {
        is_undone_ = true;
        while (int const number = arrived.next())
            on_signal(number);
        on_commands();
        on_admin_commands();
        on_time();
        is_undone_ = false;
    }

private:
    void on_signal(int number)
    {
        switch (number) {
        case SIGTERM:
            return shutdown_.advance("SIGTERM");
        case SIGINT:
            return shutdown_.end("SIGINT");
        case SIGUSR1:
            return reopen_logs(workers_.present(), start_);
        case SIGUSR2: // nginx and HAProxy use it, so an operator may send it by mistake.
            log()
                .warning("signal-ignored")
                .add("signal", "SIGUSR2")
                .add("cure", "send SIGHUP for a reload, SIGUSR1 to open log files again");
            return;
        case SIGHUP:
            return reload_by_operator();
        }
    }

    void on_commands()
    {
        // A command that is received must not be lost.
        while (auto asked = (askers_.make_room(), control_.next())) {
            if (asked->text != "reload") {
                control_.answer(*asked, {2, "cleat: this version knows no such command\n"});
                continue;
            }
            askers_.add(std::move(*asked));
            reload_by_operator();
        }
    }

    void on_admin_commands()
    {
        while (std::unique_ptr<admin_command>& asked = admin_.next_command()) {
            if (asked->what == admin_command::kind::drain) {
                asked->answer({200, "{\"draining\": true}\n"});
                asked.reset();
                if (!is_stopping())
                    shutdown_.advance("drain");
                continue;
            }
            askers_.add(std::move(asked));
            reload_by_operator();
        }
    }

    void on_time()
    {
        epochs_.look(log(), reloads_.is_busy());
        opener_.look(log());
        access_.look(log(), clock::now());
        names_.look(*workers_.present().configuration, log());
        checks_.follow(log());
        admin_.look_at_upstreams();
        reloads_.go_on();
        reload_after_changes();
        if (clock::now() >= next_expiry_look_)
            look_for_expiries();
        log_stale_crls(ends_, workers_.present());
        shutdown_.look();
        workers_.watch().look(clock::now(), log());
        memory_.look(log());
        if (can_trim_)
            heap_.look(clock::now(), workers_.memory_freed());
        log().report_lost_lines(); // The workers may have no line to write for long.
        notifier_.look(workers_);
    }

    [[nodiscard]] logger const& log() const noexcept { return workers_.present().log; }

    [[nodiscard]] int timeout_ms() const
    {
        if (is_undone_)
            return 0;
        clock::time_point const next = std::min(
            {shutdown_.deadline(), next_expiry_look_, notifier_.next_look(),
             access_.next_look().value_or(never), next_look(ends_.crls),
             workers_.watch().next_look(), epochs_.next_look()});
        std::optional<clock::time_point> const look = // The end of a reload wakes us.
            reloads_.is_busy() ? watch_.next_comparison() : watch_.next_look();
        return milliseconds_until(std::min(next, look.value_or(never)));
    }

    void follow_logs_and_admin()
    {
        can_trim_ =
            !*workers_.present().configuration->settings.lock_memory; // The kernel keeps all.
        memory_.follow(workers_.present().configuration->memory_max);
        access_.follow(workers_.present().access);
        names_.follow(*workers_.present().configuration, log());
        admin_.follow();
    }

    [[nodiscard]] bool is_stopping() const noexcept { return shutdown_.has_begun(); }

    void stop_reloading()
    {
        admin_.begin_drain();
        notifier_.note(notify_.stopping(), log());
        reloads_.stop();
        watch_.stop();
    }

    void reload_by_operator()
    {
        by_operator_ = true;
        reloads_.request();
    }

    file_changes reload_begun()
    {
        askers_.begin();
        if (!is_stopping())
            notifier_.note(notify_.reloading(), log());
        file_changes changed = watch_.hand_over(by_operator_);
        by_operator_ = false;
        return changed;
    }

    // Watches files before it answers: no later change is missed. Called again if memory was short.
    void reload_ended(reload_outcome const& outcome)
    {
        if (!std::exchange(is_counted_, true))
            admin_.count_reload(outcome);
        if (!is_stopping())
            follow(outcome);
        follow_logs_and_admin();
        askers_.answer(outcome, is_stopping());
        is_counted_ = false;
    }

    void follow(reload_outcome const& outcome)
    {
        watch_.follow(*workers_.present().configuration, outcome, log());
        notifier_.note(notify_.ready(service_status(workers_)), log());
        if (outcome.done) {
            clock::time_point const last_look = next_expiry_look_ - expiry_interval;
            bool const has_looked_lately = clock::now() < last_look + look_again_after;
            if (!workers_.present().configuration->catalog.changes || !has_looked_lately)
                look_for_expiries();
            index_.follow(workers_.present());
        }
    }

    void look_for_expiries()
    {
        next_expiry_look_ = clock::now() + expiry_interval;
        log_expiries(ends_, workers_.present());
        admin_.look_at_certificates();
    }

    void reload_after_changes()
    {
        clock::time_point const now = clock::now();
        watch_.look(now);
        if (watch_.is_due(now) && !reloads_.is_busy())
            reloads_.request(watch_.begin_due(now));
    }

    worker_group& workers_;
    notify_socket const& notify_;
    service_notifier notifier_{notify_};
    control_socket const& control_;
    start_facts const& start_;
    opener_watch opener_;
    std::atomic<bool> can_trim_{true};
    access_log_watch access_;
    check_control checks_{workers_.upstreams(), [this] { workers_.wake(); }};
    name_watch names_{workers_.upstreams(), [this] { workers_.wake(); }};
    epoch_watch epochs_{workers_, start_.folder};
    // Both are made before this thread's priority is lowered.
    heap_trimmer heap_;
    memory_watch memory_;
    admin_control admin_;
    reload_askers askers_{control_};
    reload_sequence reloads_;
    change_watch watch_;
    bool by_operator_ = false; // The next reload looks at every file.
    bool is_counted_ = false;  // The reload that is ending.
    bool is_undone_ = false;   // Memory was short.
    end_logs ends_;
    index_writer index_;
    clock::time_point next_expiry_look_{};
    shutdown_control shutdown_{workers_, [this] { stop_reloading(); }};
};

} // namespace

void supervise(
    worker_group& workers, signals& arrived, notify_socket const& notify,
    control_socket const& control, start_facts const& start)
{
    supervisor state{workers, notify, control, start};
    if (std::optional<std::chrono::milliseconds> const interval = notify.watchdog_interval())
        workers.watch().ask_every(std::min(*interval, limits::worker_question_interval));
    // This thread frees configurations. Those that serve connections have begun: none inherits it.
    lower_priority();
    while (workers.running() != 0) {
        state.wait(arrived);
        workers.take_news();
        workers.answer_challenges();
        try {
            state.turn(arrived);
        } catch (std::bad_alloc const&) {
            std::this_thread::sleep_for(limits::accept_pause);
        }
    }
    state.finish();
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
