#include "generate/generator.hpp"
#include "generate/http2_transaction.hpp"
#include "generate/transaction.hpp"
#include "generate/websocket_transaction.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;

// After so many starts in a row an open loop lets the worker handle events, however late it is.
constexpr int burst_max = 64;

// The period of measuring a worker's own lag: short enough for a p99 of a run of some seconds, and
// it costs a thousandth of a core.
constexpr std::chrono::milliseconds tick{10};

} // namespace

generator::generator(net::worker& worker, load_spec const& spec, share part)
    : worker_load{worker, spec, part}, alarm_{worker}, ticks_{worker}
{
    task_node::finish = on_dequeued;
    if (kept const* const loop = std::get_if<kept>(&spec.loop))
        for (std::size_t i = part.number; i < loop->connections; i += part.count)
            kept_alarms_.emplace_back(worker);
}

generator::~generator() = default;

void generator::begin(moment start, std::function<void()> on_done)
{
    begun_ = start;
    measured_ = start + spec_.warm_up;
    last_ = measured_ + spec_.duration;
    schedule_end_ = measured_ + schedule_length(spec_);
    half_ = measured_ + schedule_length(spec_) / 2;
    on_done_ = std::move(on_done);
    thread_times const now = times_of_this_thread();
    cpu_before_ = now.cpu;
    if (measured_ == begun_)
        first_ = now; // Nothing happens between now and then.
    if (spec_.transactions) {
        std::uint64_t const all = *spec_.transactions;
        transactions_left_ = all / part_.count + (part_.number < all % part_.count ? 1 : 0);
    }
    // A closed loop's timeline is as long as its duration, unless it ends by number.
    counts_.timeline.reserve(static_cast<std::size_t>(
        std::min<std::int64_t>(spec_.duration / spec_.interval + 2, 1'000'000)));
    measure_lag();
    if (std::holds_alternative<open>(spec_.loop))
        run_open_loop();
    else if (std::holds_alternative<closed>(spec_.loop))
        run_closed_loop();
    else
        run_kept_connections();
}

// Each transaction begins when it is due, or as soon after that as this worker comes to it.
net::detached generator::run_open_loop()
{
    open const& loop = std::get<open>(spec_.loop);
    pacer times{loop.phases, loop.spacing, part_, loop.seed};
    net::interrupt interrupt{worker_};
    std::optional<std::chrono::nanoseconds> start = times.next();
    int burst = 0;
    while (start && !finished_ && transactions_left_ != 0) {
        moment const due = begun_ + *start;
        if (due >= last_)
            break;
        if (clock::now() < due || ++burst == burst_max) {
            burst = 0;
            alarm_.set(due);
            error_code const ec = co_await net::ready{interrupt, alarm_.interest()};
            if (ec)
                break;
            continue;
        }
        begin_one(due);
        start = times.next();
    }
    finished_ = true;
    check_done();
}

// A connection that ends is replaced in the next pass of the worker's loop.
net::detached generator::run_closed_loop()
{
    unsigned const all = std::get<closed>(spec_.loop).connections;
    unsigned const here =
        all / static_cast<unsigned>(part_.count) + (part_.number < all % part_.count ? 1U : 0U);
    net::interrupt interrupt{worker_};
    alarm_.set(begun_);
    error_code ec = co_await net::ready{interrupt, alarm_.interest()};
    for (unsigned i = 0; i != here && !ec; ++i)
        replace();
    // When time is up, nothing more begins, and the answers that are awaited may still come.
    alarm_.set(last_);
    if (!ec && !finished_)
        ec = co_await net::ready{interrupt, alarm_.interest()};
    finished_ = true;
    check_done();
}

// Each connection sends requests at times of its own, and ends with its last answer.
net::detached generator::run_kept_connections()
{
    kept const& loop = std::get<kept>(spec_.loop);
    for (std::size_t i = 0; i != kept_alarms_.size(); ++i) {
        std::uint64_t const seed = loop.seed * 1'000'003 + part_.number + i * part_.count;
        // Evenly spaced requests of all connections are evenly spaced too.
        auto const number = static_cast<std::int64_t>(i * part_.count + part_.number);
        auto const all = static_cast<std::int64_t>(loop.connections);
        kept_turn const part{
            .begun = begun_ + loop.open_ahead,
            .turn = loop.period * number / all,
            .opens = begun_ + loop.open_ahead / 2 * number / all,
            .seed = seed};
        if (spec_.websocket)
            keep_messaging(*this, std::move(kept_alarms_[i]), part);
        else if (spec_.http2)
            keep_requesting_http2(*this, std::move(kept_alarms_[i]), part);
        else
            keep_requesting(*this, std::move(kept_alarms_[i]), part);
    }
    net::interrupt interrupt{worker_};
    alarm_.set(last_);
    if (!finished_)
        static_cast<void>(co_await net::ready{interrupt, alarm_.interest()});
    finished_ = true;
    check_done();
}

// While transactions begin: how late the worker comes to a timer, and the CPU that its thread got.
net::detached generator::measure_lag()
{
    net::interrupt interrupt{worker_};
    for (moment due = measured_; !has_times_;) {
        ticks_.set(due);
        if (co_await net::ready{interrupt, ticks_.interest()})
            break;
        moment const now = clock::now();
        if (now < due || has_times_)
            continue;
        if (!first_)
            first_ = times_of_this_thread();
        // A worker that was busy for long was late for every tick in that time.
        for (; due <= now && due < last_; due += tick)
            counts_.lag.record(static_cast<std::uint64_t>((now - due).count()));
        if (now >= last_)
            take_times();
        due = std::min(due, last_);
    }
}

void generator::take_times() noexcept
{
    if (!std::exchange(has_times_, true) && first_)
        times_ = times_of_this_thread() - *first_;
}

void generator::replace()
{
    ++to_replace_;
    if (!std::exchange(queued_, true))
        worker_.push(*this);
}

void generator::on_dequeued(net::task_node& node, bool run) noexcept
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
    return !finished_ && transactions_left_ != 0 && clock::now() < last_;
}

// How many requests the next connection carries: all that one carries, or what is left of the
// number of transactions. The warm-up is not part of that number. A kept connection takes one
// after the other (take_next).
unsigned generator::take_requests(moment intended) noexcept
{
    unsigned const wanted = spec_.keep ? 1 : spec_.exchange.requests;
    if (transactions_left_ == UINT64_MAX || !is_counted(intended))
        return wanted;
    auto const taken = static_cast<unsigned>(std::min<std::uint64_t>(transactions_left_, wanted));
    transactions_left_ -= taken;
    return taken;
}

void generator::begin_one(moment intended)
{
    unsigned const requests = take_requests(intended);
    if (in_flight_ < spec_.in_flight_max) {
        if (spec_.websocket)
            transact_websocket(*this, intended, requests);
        else if (spec_.http2)
            transact_http2(*this, intended, requests);
        else
            transact(*this, intended, requests);
        return;
    }
    // An open loop that left these out would be a closed one: they count as failures.
    if (!is_counted(intended))
        return;
    ++counts_.attempts;
    ++counts_.failures[{stage::start, "in-flight limit"}];
    if (!counts_.paths.empty())
        ++counts_.paths[choose_path()].attempts;
    interval& in_time = counts_.interval_at(since_begin(intended));
    ++in_time.attempted;
    ++in_time.failed;
    if (spec_.by_start) {
        interval& by_start = counts_.by_start_at(since_begin(intended));
        ++by_start.attempted;
        ++by_start.failed;
    }
}

void generator::after_connection() noexcept
{
    if (std::holds_alternative<closed>(spec_.loop) && may_begin())
        replace();
    else
        check_done();
}

void generator::finish()
{
    finished_ = true;
    last_ = std::min(last_, clock::now());
    schedule_end_ = std::min(schedule_end_, last_);
    take_times();
    alarm_.set(clock::now());
    check_done();
}

void generator::check_done()
{
    bool const all_begun = finished_ || transactions_left_ == 0;
    if (!all_begun || in_flight_ != 0 || queued_ || !on_done_)
        return;
    counts_.cpu = counted_cpu();
    take_times();
    std::exchange(on_done_, nullptr)();
}

// Without the CPU of the warm-up.
std::chrono::nanoseconds generator::counted_cpu() const noexcept
{
    return first_ ? times_of_this_thread().cpu - first_->cpu : std::chrono::nanoseconds{};
}

progress generator::read_progress() const
{
    progress seen;
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

tally generator::take_counts()
{
    if (on_done_) // The run was cut off.
        counts_.cpu = counted_cpu();
    take_times();
    return std::move(counts_);
}

} // namespace cleat::bench
