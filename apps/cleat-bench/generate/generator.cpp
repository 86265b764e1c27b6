#include "generate/generator.hpp"
#include "generate/transaction.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/timerfd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;

// An open loop looks for events after so many starts in a row, however late it is.
constexpr int burst_max = 64;

// How often a worker's own lag is looked at: often enough for a p99 of a run of some seconds, and
// for a thousandth of a core.
constexpr std::chrono::milliseconds tick{10};

} // namespace

alarm::alarm(net::worker& on)
{
    unique_fd fd{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "timerfd_create"};
    entry_.reset(new net::readiness::entry{on.readiness(), std::move(fd)});
}

void alarm::set(moment at) noexcept
{
    // steady_clock is CLOCK_MONOTONIC. Zero would disarm; what has passed fires at once.
    auto const since = std::max<std::int64_t>(at.time_since_epoch().count(), 1);
    itimerspec const when{
        .it_interval = {},
        .it_value = {.tv_sec = since / 1'000'000'000, .tv_nsec = since % 1'000'000'000}};
    entry_->use_up_read();
    static_cast<void>(::timerfd_settime(entry_->fd(), TFD_TIMER_ABSTIME, &when, nullptr));
}

generator::generator(net::worker& on, load_spec const& use, share mine)
    : on_{on}, use_{use}, mine_{mine}, random_{mine.number + 1}, alarm_{on}, ticks_{on}
{
    task_node::finish = on_turn;
    counts_.interval_length = use.interval;
    if (use.early_data)
        counts_.early.emplace();
    std::vector<weighted_name> names = use.names;
    if (names.empty())
        names.push_back({use.tls.server_name, 1});
    for (weighted_name const& each : names) {
        tls::context_spec spec = use.tls;
        spec.server_name = each.name;
        spec.keep_sessions = use.reuse.any();
        spec.want_tickets = use.reuse.by_ticket;
        personas_.push_back(std::make_unique<persona>(
            persona{tls::context{spec}, session_pool{use.reuse, mine.number + 1}, each.weight}));
        weights_ += each.weight;
    }
    if (kept const* const held = std::get_if<kept>(&use.arrive))
        for (std::size_t i = mine.number; i < held->connections; i += mine.of)
            bells_.emplace_back(on);
}

generator::~generator() = default;

void generator::begin(moment at, std::function<void()> done)
{
    begun_ = at;
    measured_ = at + use_.warm_up;
    last_ = measured_ + use_.duration;
    up_ = measured_ + time_of_beginnings(use_);
    done_ = std::move(done);
    thread_times const now = times_of_this_thread();
    cpu_before_ = now.cpu;
    if (measured_ == begun_)
        first_ = now; // Nothing happens until then.
    if (use_.transactions) {
        std::uint64_t const all = *use_.transactions;
        transactions_left_ = all / mine_.of + (mine_.number < all % mine_.of ? 1 : 0);
    }
    // A closed loop's timeline is as long as its duration, unless it ends by number.
    counts_.timeline.reserve(static_cast<std::size_t>(
        std::min<std::int64_t>(use_.duration / use_.interval + 2, 1'000'000)));
    keep_time();
    if (std::holds_alternative<open>(use_.arrive))
        pace();
    else if (std::holds_alternative<closed>(use_.arrive))
        keep_busy();
    else
        keep_connections();
}

// Open loop: each transaction when it is due, or as soon after that as this worker comes to it.
net::detached generator::pace()
{
    open const& spec = std::get<open>(use_.arrive);
    pacer times{spec.phases, spec.how, mine_, spec.seed};
    net::interrupt by{on_};
    std::optional<std::chrono::nanoseconds> coming = times.next();
    int burst = 0;
    while (coming && !finished_ && transactions_left_ != 0) {
        moment const due = begun_ + *coming;
        if (due >= last_)
            break;
        if (clock::now() < due || ++burst == burst_max) {
            burst = 0;
            alarm_.set(due);
            error_code const ec = co_await net::ready{by, alarm_.rings()};
            if (ec)
                break;
            continue;
        }
        begin_one(due);
        coming = times.next();
    }
    finished_ = true;
    check_done();
}

// Closed loop: so many at once. What ends is replaced in the worker's next turn.
net::detached generator::keep_busy()
{
    unsigned const all = std::get<closed>(use_.arrive).connections;
    unsigned const mine =
        all / static_cast<unsigned>(mine_.of) + (mine_.number < all % mine_.of ? 1U : 0U);
    net::interrupt by{on_};
    alarm_.set(begun_);
    error_code ec = co_await net::ready{by, alarm_.rings()};
    for (unsigned i = 0; i != mine && !ec; ++i)
        replace();
    // Who waits for an answer when time is up gets it: no later start is the end of a closed loop.
    alarm_.set(last_);
    if (!ec && !finished_)
        ec = co_await net::ready{by, alarm_.rings()};
    finished_ = true;
    check_done();
}

// Kept connections: each asks at times of its own, and ends with its last answer.
net::detached generator::keep_connections()
{
    kept const& spec = std::get<kept>(use_.arrive);
    for (std::size_t i = 0; i != bells_.size(); ++i) {
        std::uint64_t const seed = spec.seed * 1'000'003 + mine_.number + i * mine_.of;
        keep_asking(*this, std::move(bells_[i]), begun_, spec.every, seed);
    }
    net::interrupt by{on_};
    alarm_.set(last_);
    if (!finished_)
        static_cast<void>(co_await net::ready{by, alarm_.rings()});
    finished_ = true;
    check_done();
}

// What the worker itself was given, and how late it comes to what is due, while transactions begin.
net::detached generator::keep_time()
{
    net::interrupt by{on_};
    for (moment due = measured_; !timed_;) {
        ticks_.set(due);
        if (co_await net::ready{by, ticks_.rings()})
            break;
        moment const now = clock::now();
        if (now < due || timed_)
            continue;
        if (!first_)
            first_ = times_of_this_thread();
        // A loop that stood still was late for every tick meanwhile.
        for (; due <= now && due < last_; due += tick)
            counts_.lag.record(static_cast<std::uint64_t>((now - due).count()));
        if (now >= last_)
            end_of_beginning();
        due = std::min(due, last_);
    }
}

void generator::end_of_beginning() noexcept
{
    if (!std::exchange(timed_, true) && first_)
        times_ = times_of_this_thread() - *first_;
}

void generator::replace()
{
    ++to_replace_;
    if (!std::exchange(queued_, true))
        on_.push(*this);
}

void generator::on_turn(net::task_node& node, bool run) noexcept
{
    generator& self = static_cast<generator&>(node);
    self.queued_ = false;
    unsigned const now = std::exchange(self.to_replace_, 0);
    for (unsigned i = 0; run && i != now; ++i)
        if (self.may_begin())
            self.begin_one(clock::now());
    self.check_done();
}

bool generator::may_begin() const noexcept
{
    return !finished_ && transactions_left_ != 0;
}

// How many requests the next connection carries: the last one of a number has what is left of it.
// The warm-up is not part of the number.
unsigned generator::take_requests(moment intended) noexcept
{
    unsigned const wanted = use_.say.requests;
    if (transactions_left_ == UINT64_MAX || !counted(intended))
        return wanted;
    auto const taken = static_cast<unsigned>(std::min<std::uint64_t>(transactions_left_, wanted));
    transactions_left_ -= taken;
    return taken;
}

void generator::begin_one(moment intended)
{
    unsigned const requests = take_requests(intended);
    if (in_flight_ < use_.in_flight_max) {
        transact(*this, intended, requests);
        return;
    }
    // Silence here would make an open loop a closed one.
    if (!counted(intended))
        return;
    ++counts_.attempts;
    ++counts_.failures[{stage::start, "in-flight limit"}];
    interval& here = counts_.at(since_begin(intended));
    ++here.attempted;
    ++here.failed;
    if (use_.by_start) {
        interval& its = counts_.by_start_at(since_begin(intended));
        ++its.attempted;
        ++its.failed;
    }
}

void generator::ended() noexcept
{
    CLEAT_ASSERT(in_flight_ != 0);
    --in_flight_;
    if (std::holds_alternative<closed>(use_.arrive) && may_begin())
        replace();
    else
        check_done();
}

void generator::finish()
{
    finished_ = true;
    last_ = std::min(last_, clock::now());
    end_of_beginning();
    alarm_.set(clock::now());
    check_done();
}

void generator::check_done()
{
    bool const all_begun = finished_ || transactions_left_ == 0;
    if (!all_begun || in_flight_ != 0 || queued_ || !done_)
        return;
    counts_.cpu = cpu();
    end_of_beginning();
    std::exchange(done_, nullptr)();
}

// What was counted took this: the warm-up's is not in it.
std::chrono::nanoseconds generator::cpu() const noexcept
{
    return first_ ? times_of_this_thread().cpu - first_->cpu : std::chrono::nanoseconds{};
}

glimpse generator::look() const
{
    glimpse seen;
    seen.attempts = counts_.attempts;
    seen.ok = counts_.ok;
    seen.failures = counts_.failures;
    seen.in_flight = in_flight_;
    seen.response.merge(counts_.response);
    seen.slip.merge(counts_.slip);
    seen.timeline = counts_.timeline;
    seen.by_start = counts_.by_start;
    seen.cpu = times_of_this_thread().cpu - cpu_before_;
    return seen;
}

tally generator::close_account()
{
    if (done_) // Cut off before its end.
        counts_.cpu = cpu();
    end_of_beginning();
    return std::move(counts_);
}

persona& generator::choose()
{
    if (personas_.size() == 1)
        return *personas_.front();
    unsigned at = std::uniform_int_distribution<unsigned>{0, weights_ - 1}(random_);
    for (std::unique_ptr<persona> const& each : personas_) {
        if (at < each->weight)
            return *each;
        at -= each->weight;
    }
    return *personas_.back();
}

net::address const* generator::source() noexcept
{
    if (use_.from.empty())
        return nullptr;
    // Shares begin at different places, so that a short run uses all of them too.
    return &use_.from[(mine_.number + sources_used_++) % use_.from.size()];
}

std::chrono::nanoseconds generator::since_begin(moment t) const noexcept
{
    return t - measured_;
}

} // namespace cleat::bench
