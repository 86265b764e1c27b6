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

// Workers are told when to begin so long before it, so that they begin together.
constexpr auto head_start = 20ms;

[[noreturn]] void fail(char const* what)
{
    throw std::system_error{errno, std::system_category(), what};
}

// interrupt_signals collects SIGINT and SIGTERM as long as it lives. Made before there are threads.
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
        // One that comes now is not to end who writes the results of this run; but whoever holds
        // signals back himself waits for it.
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

// server_clock reads what the server's processes have used: when what is counted begins, when its
// time is up, and at the end.
class server_clock
{
public:
    server_clock(std::vector<int> const& pids, moment begin, moment up, bool warms_up)
        // Without a warm-up nothing happens right before the begin: better then than too late.
        : pids_{pids}, begin_{begin}, look_{warms_up ? begin : begin - head_start}, up_{up}
    {
        look(clock::now());
    }

    // due is when it wants to look.
    [[nodiscard]] moment due() const noexcept
    {
        return pids_.empty() || in_time_ ? moment::max() : first_ ? up_ : look_;
    }

    void look(moment now)
    {
        if (now < due())
            return;
        std::optional<reading>& here = first_ ? in_time_ : first_;
        here = {std::max(clock::now(), begin_), cpu_of(pids_)};
    }

    // time_is_up, earlier than was thought.
    void time_is_up(moment now)
    {
        up_ = std::min(up_, now);
        if (first_)
            look(now);
    }

    void tell(ended_run& into) const
    {
        if (!first_)
            return;
        reading const last{clock::now(), cpu_of(pids_)};
        reading const& up = in_time_ ? *in_time_ : last;
        // A child that has ended takes its account along.
        into.server_cpu = std::max(last.cpu - first_->cpu, 0ns);
        if (up.at > first_->at)
            into.server_cores =
                std::max(0.0, in_seconds(up.cpu - first_->cpu) / in_seconds(up.at - first_->at));
    }

private:
    struct reading
    {
        moment at;
        std::chrono::nanoseconds cpu;
    };

    std::vector<int> const& pids_;
    moment begin_;
    moment look_;
    moment up_;
    std::optional<reading> first_;
    std::optional<reading> in_time_;
};

// The same instant on the clock that measures and on the clock that a result names. Both are kept:
// one computed from the other later would differ by what passes between two readings.
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
    explicit load_run(load_spec const& use)
        : use_{use}
        , done_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
        , generators_(workers_of(use))
        , tallies_(generators_.size())
        , times_(generators_.size())
        , pool_{{
              .workers = generators_.size(),
              // Pinning helps who has all cores; beside a server it may tie both to one.
              .pin = false,
              .begin = [this](net::worker& on) { make(on); },
              .end = [this](net::worker& on) { take(on); },
          }}
    {
        if (!done_)
            fail("eventfd");
    }

    // begin_at is when the first transactions begin; what is counted begins a warm-up later.
    void begin_at(instant start)
    {
        moment const begin = start.steady;
        begin_ = begin;
        measured_ = begin + use_.warm_up;
        started_ = (start + use_.warm_up).wall;
        up_ = has_schedule(use_) ? measured_ + time_of_beginnings(use_) : moment::max();
        pool_.broadcast([this, begin](net::worker& on) {
            generators_[on.number()]->begin(begin, [this] {
                // The thread that waits may be busy with another load for long.
                std::int64_t const now = clock::now().time_since_epoch().count();
                std::int64_t before = ended_.load();
                while (before < now && !ended_.compare_exchange_weak(before, now)) {
                }
                std::uint64_t const one = 1;
                static_cast<void>(!::write(done_.get(), &one, sizeof one));
            });
        });
    }

    // wait_for_the_end, after begin_at: until all have ended, or somebody wants the end, or
    // patience is over.
    ended_run wait_for_the_end(conduct const& how, interrupt_signals& signals)
    {
        ended_run end;
        end.started = started_;
        server_clock server{how.server_pids, measured_, up_, use_.warm_up != 0ns};
        moment const cut = wait(how, signals, server, end);
        server.tell(end);
        settle(end, cut);
        pool_.stop(); // Interrupts what is still there: unfinished.
        for (tally const& each : tallies_) {
            end.counts.interval_length = each.interval_length;
            end.counts.merge(each);
        }
        end.workers = times_;
        return end;
    }

private:
    moment wait(
        conduct const& how, interrupt_signals& signals, server_clock& server, ended_run& end)
    {
        // Everybody gets the time that the stages have; then what is left is unfinished.
        moment const patience = measured_ + use_.duration + use_.timeouts.connect +
                                use_.timeouts.handshake + use_.timeouts.answer;
        moment look = how.watch ? begin_ + how.every : patience;
        std::uint64_t ended = 0;
        while (ended < generators_.size()) {
            moment const now = clock::now();
            if (now >= patience)
                break;
            server.look(now);
            if (how.watch && now >= look) {
                proceed const wanted = how.watch(look_at(measured_));
                if (wanted != proceed::on)
                    time_is_up(now, server);
                if (wanted == proceed::stop)
                    break;
                if (wanted == proceed::finish)
                    pool_.broadcast(
                        [this](net::worker& on) { generators_[on.number()]->finish(); });
                look = std::max(look + how.every, now); // Late ones are left out.
            }
            pollfd fds[] = {{signals.fd(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
            auto const left = std::chrono::ceil<std::chrono::milliseconds>(
                std::min({look, patience, server.due()}) - now);
            ::poll(fds, 2, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
            std::uint64_t more = 0;
            if (::read(done_.get(), &more, sizeof more) == sizeof more)
                ended += more;
            if (signals.take()) {
                end.partial = end.interrupted = true;
                time_is_up(clock::now(), server);
                break;
            }
        }
        return ended == generators_.size() ? moment{clock::duration{ended_.load()}} : clock::now();
    }

    void time_is_up(moment now, server_clock& server)
    {
        if (now < up_)
            server.time_is_up(now);
        up_ = std::min(up_, now);
    }

    // A schedule's time ends where nothing is meant to begin any more: one answer that is long in
    // coming does not make the rate less. A closed loop has no time of its own.
    void settle(ended_run& end, moment cut) const
    {
        moment const up = has_schedule(use_) ? up_ : cut;
        end.measured = std::max<clock::duration>(up - measured_, 0ns);
        if (!end.interrupted)
            end.drain = std::max<clock::duration>(cut - std::max(up, measured_), 0ns);
    }

    void make(net::worker& on)
    {
        // The kernel may round a timer up by this much to save wake-ups; its default is 50 us.
        ::prctl(PR_SET_TIMERSLACK, 1UL);
        generators_[on.number()] =
            std::make_unique<generator>(on, use_, share{on.number(), generators_.size()});
    }

    void take(net::worker& on)
    {
        tallies_[on.number()] = generators_[on.number()]->close_account();
        times_[on.number()] = generators_[on.number()]->times();
        generators_[on.number()].reset();
    }

    glimpse look_at(moment measured)
    {
        glimpse sum;
        std::vector<std::future<glimpse>> answers;
        for (std::size_t i = 0; i != generators_.size(); ++i) {
            std::promise<glimpse> promise;
            answers.push_back(promise.get_future());
            pool_[i]
                .get_executor()
                .require(boost::asio::execution::blocking.never)
                .execute([g = generators_[i].get(), p = std::move(promise)]() mutable {
                    p.set_value(g->look());
                });
        }
        for (std::future<glimpse>& each : answers) {
            glimpse const one = each.get();
            sum.attempts += one.attempts;
            sum.ok += one.ok;
            for (auto const& [what, count] : one.failures)
                sum.failures[what] += count;
            sum.in_flight += one.in_flight;
            sum.response.merge(one.response);
            sum.slip.merge(one.slip);
            add(sum.timeline, one.timeline);
            add(sum.by_start, one.by_start);
            sum.cpu += one.cpu;
        }
        sum.since_begin = clock::now() - measured;
        return sum;
    }

    load_spec const& use_;
    unique_fd done_;
    std::vector<std::unique_ptr<generator>> generators_;
    std::vector<tally> tallies_;
    std::vector<thread_times> times_;
    std::atomic<std::int64_t> ended_{0}; // When the last generator was done.
    moment begin_{};
    moment measured_{};                             // The warm-up is over.
    std::chrono::system_clock::time_point started_; // The same, as a result names it.
    moment up_{};           // Nothing is meant to begin any more; a closed loop knows no such time.
    net::worker_pool pool_; // Its threads use all of the above.
};

// The time that was asked for, or the first at which all workers can begin.
instant begin_of(conduct const& how)
{
    auto const wall = std::chrono::system_clock::now();
    if (how.start_at && *how.start_at < wall)
        throw std::runtime_error{fmt::format(
            "--start-at {}: that was {:.1f} s before this could begin: give a later time, the "
            "same on all machines",
            in_utc(*how.start_at), in_seconds(wall - *how.start_at))};
    instant const now{.steady = clock::now(), .wall = wall};
    return now + (how.start_at ? std::max<clock::duration>(*how.start_at - wall, head_start)
                               : clock::duration{head_start});
}

} // namespace

ended_run run_load(load_spec const& use, conduct const& how)
{
    interrupt_signals signals;
    load_run one{use};
    one.begin_at(begin_of(how));
    ended_run end = one.wait_for_the_end(how, signals);
    end.interrupted |= signals.take();
    return end;
}

ended_runs run_together(load_spec const& use, load_spec beside, conduct const& how)
{
    interrupt_signals signals;
    beside.warm_up = use.warm_up / 2;
    beside.duration = use.duration;
    load_run first{use};
    load_run second{beside};
    instant const begin = begin_of(how);
    first.begin_at(begin);
    second.begin_at(begin + use.warm_up / 2);
    ended_runs found;
    found.asked = first.wait_for_the_end(how, signals);
    conduct ends;
    ends.every = 1ms;
    ends.watch = [&](glimpse const&) {
        return found.asked.interrupted ? proceed::stop : proceed::finish;
    };
    found.beside = second.wait_for_the_end(ends, signals);
    found.asked.interrupted |= found.beside.interrupted | signals.take();
    return found;
}

} // namespace cleat::bench
