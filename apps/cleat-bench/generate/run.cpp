#include "generate/generator.hpp"
#include "generate/run.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/worker_pool.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Workers learn the moment of the begin this long before it, so that they begin together.
constexpr auto head_start = 20ms;

[[noreturn]] void fail(char const* what)
{
    throw std::system_error{errno, std::system_category(), what};
}

// interrupt_signals collects SIGINT and SIGTERM while it lives. Made before there are threads.
class interrupt_signals
{
public:
    interrupt_signals()
    {
        ::sigemptyset(&set_);
        ::sigaddset(&set_, SIGINT);
        ::sigaddset(&set_, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
        fd_ = unique_fd{::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK)};
        if (!fd_)
            fail("signalfd");
    }
    interrupt_signals(interrupt_signals&&) = delete;
    ~interrupt_signals()
    {
        // A signal that is pending would end the program before it writes the results of this run.
        // A caller that holds signals back itself (`interruption`) still gets it.
        if (::sigismember(&before_, SIGINT) == 0)
            static_cast<void>(take());
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] bool take() noexcept
    {
        signalfd_siginfo info{};
        bool any = false;
        while (::read(fd_.get(), &info, sizeof info) == sizeof info)
            any = true;
        return any;
    }

private:
    sigset_t set_{};
    sigset_t before_{};
    unique_fd fd_;
};

// server_clock reads the CPU of the server's processes: when counting begins, when the schedule
// ends, and at the end of the run.
class server_clock
{
public:
    server_clock(std::vector<int> const& pids, moment begin, moment schedule_end, bool warms_up)
        // Without a warm-up the server is idle right before the begin: a reading then is exact, and
        // one right after it could be late.
        : pids_{pids}
        , begin_{begin}
        , first_due_{warms_up ? begin : begin - head_start}
        , schedule_end_{schedule_end}
    {
        read_when_due(clock::now());
    }

    // due is the moment of the next reading.
    [[nodiscard]] moment due() const noexcept
    {
        return pids_.empty() || scheduled_ ? moment::max() : first_ ? schedule_end_ : first_due_;
    }

    void read_when_due(moment now)
    {
        if (now < due())
            return;
        std::optional<reading>& next = first_ ? scheduled_ : first_;
        next = {std::max(clock::now(), begin_), cpu_of(pids_)};
    }

    // end_schedule, earlier than planned.
    void end_schedule(moment now)
    {
        schedule_end_ = std::min(schedule_end_, now);
        if (first_)
            read_when_due(now);
    }

    void write(ended_run& end) const
    {
        if (!first_)
            return;
        reading const last{clock::now(), cpu_of(pids_)};
        reading const& scheduled = scheduled_ ? *scheduled_ : last;
        // The CPU of a child that has ended is missing from the last reading.
        end.server_cpu = std::max(last.cpu - first_->cpu, 0ns);
        if (scheduled.time > first_->time)
            end.server_cores = std::max(
                0.0, in_seconds(scheduled.cpu - first_->cpu) /
                         in_seconds(scheduled.time - first_->time));
    }

private:
    struct reading
    {
        moment time;
        std::chrono::nanoseconds cpu;
    };

    std::vector<int> const& pids_;
    moment begin_;
    moment first_due_;
    moment schedule_end_;
    std::optional<reading> first_;
    std::optional<reading> scheduled_; // At the end of the schedule.
};

// One instant on the clock that measures and on the clock of dates. Both are kept: computing one
// from the other later would add the time between two readings of the clocks.
struct instant
{
    moment steady;
    std::chrono::system_clock::time_point wall;

    friend instant operator+(instant start, clock::duration later)
    {
        return {.steady = start.steady + later, .wall = start.wall + later};
    }
};

class load_run
{
public:
    explicit load_run(load_spec const& spec)
        : spec_{spec}
        , done_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
        , generators_(workers_of(spec))
        , tallies_(generators_.size())
        , times_(generators_.size())
        , pool_{{
              .workers = generators_.size(),
              // Pinned workers could share a core with the server while another core is idle.
              .pin = false,
              .begin = [this](net::worker& worker) { make(worker); },
              .end = [this](net::worker& worker) { take(worker); },
          }}
    {
        if (!done_)
            fail("eventfd");
    }

    // begin_at is when the first transactions begin; what is counted begins a warm-up later.
    void begin_at(instant start)
    {
        measured_ = start + spec_.warm_up;
        schedule_end_ = measured_.steady + schedule_length(spec_);
        pool_.broadcast([this, begin = start.steady](net::worker& worker) {
            generators_[worker.number()]->begin(begin, [this] {
                // The waiting thread may be busy with another load: it could not take the time.
                std::int64_t const now = clock::now().time_since_epoch().count();
                std::int64_t before = ended_.load();
                while (before < now && !ended_.compare_exchange_weak(before, now)) {
                }
                std::uint64_t const one = 1;
                static_cast<void>(!::write(done_.get(), &one, sizeof one));
            });
        });
    }

    // wait_for_end, after begin_at: until all generators are done, a signal or the watch function
    // ends the run, or the timeouts of all stages have passed since the schedule's end.
    ended_run wait_for_end(run_control const& control, interrupt_signals& signals)
    {
        ended_run end;
        end.started = measured_.wall;
        server_clock server{
            control.server_pids, measured_.steady, schedule_end_, spec_.warm_up != 0ns};
        moment const last_end = wait(control, signals, server, end);
        server.write(end);
        set_times(end, last_end);
        pool_.stop(); // Transactions that are under way are interrupted, and count as unfinished.
        for (tally const& each : tallies_) {
            end.counts.interval_length = each.interval_length;
            end.counts.merge(each);
        }
        end.workers = times_;
        return end;
    }

private:
    moment wait(
        run_control const& control, interrupt_signals& signals, server_clock& server,
        ended_run& end)
    {
        // The last transactions get the time of all their stages.
        moment const patience = measured_.steady + spec_.duration + time_of_all_stages(spec_);
        moment next_watch =
            control.watch ? measured_.steady - spec_.warm_up + control.period : patience;
        std::uint64_t ended = 0;
        while (ended < generators_.size()) {
            moment const now = clock::now();
            if (now >= patience)
                break;
            server.read_when_due(now);
            if (control.watch && now >= next_watch) {
                proceed const decision = control.watch(read_progress());
                if (decision != proceed::go_on)
                    end_schedule(now, server);
                if (decision == proceed::stop)
                    break;
                if (decision == proceed::finish)
                    pool_.broadcast(
                        [this](net::worker& worker) { generators_[worker.number()]->finish(); });
                next_watch = std::max(next_watch + control.period, now); // Skips missed periods.
            }
            pollfd fds[] = {{signals.fd(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
            auto const left = std::chrono::ceil<std::chrono::milliseconds>(
                std::min({next_watch, patience, server.due()}) - now);
            ::poll(fds, 2, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
            std::uint64_t more = 0;
            if (::read(done_.get(), &more, sizeof more) == sizeof more)
                ended += more;
            if (signals.take()) {
                end.partial = end.interrupted = true;
                end_schedule(clock::now(), server);
                break;
            }
        }
        return ended == generators_.size() ? moment{clock::duration{ended_.load()}} : clock::now();
    }

    void end_schedule(moment now, server_clock& server)
    {
        if (now < schedule_end_)
            server.end_schedule(now);
        schedule_end_ = std::min(schedule_end_, now);
    }

    // The time of a load ends when nothing is due any more: what is answered later is the drain's.
    // A closed loop that ends by a number ends with its last answer.
    void set_times(ended_run& end, moment last_end) const
    {
        moment const measured_end =
            has_schedule(spec_) ? schedule_end_ : std::min(schedule_end_, last_end);
        end.measured = std::max<clock::duration>(measured_end - measured_.steady, 0ns);
        if (!end.interrupted)
            end.drain =
                std::max<clock::duration>(last_end - std::max(measured_end, measured_.steady), 0ns);
    }

    void make(net::worker& worker)
    {
        // The kernel may round a timer up by this much to save wake-ups; its default is 50 us.
        ::prctl(PR_SET_TIMERSLACK, 1UL);
        generators_[worker.number()] =
            std::make_unique<generator>(worker, spec_, share{worker.number(), generators_.size()});
    }

    void take(net::worker& worker)
    {
        std::unique_ptr<generator>& its = generators_[worker.number()];
        tallies_[worker.number()] = its->take_counts();
        times_[worker.number()] = its->times();
        its.reset();
    }

    progress read_progress()
    {
        progress sum;
        std::vector<std::future<progress>> answers;
        for (std::size_t i = 0; i != generators_.size(); ++i) {
            std::promise<progress> promise;
            answers.push_back(promise.get_future());
            pool_[i]
                .get_executor()
                .require(boost::asio::execution::blocking.never)
                .execute([g = generators_[i].get(), p = std::move(promise)]() mutable {
                    p.set_value(g->read_progress());
                });
        }
        for (std::future<progress>& each : answers)
            add(sum, each.get());
        sum.since_begin = clock::now() - measured_.steady;
        return sum;
    }

    load_spec const& spec_;
    unique_fd done_;
    std::vector<std::unique_ptr<generator>> generators_;
    std::vector<tally> tallies_;
    std::vector<thread_times> times_;
    std::atomic<std::int64_t> ended_{0}; // When the last generator was done.
    instant measured_{};                 // The end of the warm-up.
    moment schedule_end_{};              // A closed loop may end before, by a number.
    net::worker_pool pool_;              // Its threads use all members before it.
};

// The time that was asked for, or the earliest at which all workers can begin.
instant begin_of(run_control const& control)
{
    auto const wall = std::chrono::system_clock::now();
    if (control.start_at && *control.start_at < wall && !control.may_be_late)
        throw std::runtime_error{fmt::format(
            "--start-at {}: that was {:.1f} s before this could begin: give a later time, the "
            "same on all machines",
            in_utc(*control.start_at), in_seconds(wall - *control.start_at))};
    instant const now{.steady = clock::now(), .wall = wall};
    return now + (control.start_at ? std::max<clock::duration>(*control.start_at - wall, head_start)
                                   : clock::duration{head_start});
}

} // namespace

ended_run run_load(load_spec const& spec, run_control const& control)
{
    interrupt_signals signals;
    load_run run{spec};
    run.begin_at(begin_of(control));
    ended_run end = run.wait_for_end(control, signals);
    end.interrupted |= signals.take();
    return end;
}

ended_runs run_together(
    load_spec const& foreground, load_spec background, run_control const& control)
{
    interrupt_signals signals;
    background.warm_up = foreground.warm_up / 2;
    background.duration = foreground.duration;
    load_run first{foreground};
    load_run second{background};
    instant const begin = begin_of(control);
    first.begin_at(begin);
    second.begin_at(begin + foreground.warm_up / 2);
    ended_runs ended;
    ended.foreground = first.wait_for_end(control, signals);
    run_control ending_control;
    ending_control.period = 1ms;
    ending_control.watch = [&](progress const&) {
        return ended.foreground.interrupted ? proceed::stop : proceed::finish;
    };
    ended.background = second.wait_for_end(ending_control, signals);
    ended.foreground.interrupted |= ended.background.interrupted | signals.take();
    return ended;
}

} // namespace cleat::bench
