#include "health/checker.hpp"
#include "system/low_priority.hpp"

#include <cleat/core/limits.hpp>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include <poll.h>
#include <pthread.h>

namespace cleat::app {

struct checker::orders
{
    std::uint64_t number = 0;
    std::vector<check_target> targets;
};

struct checker::watch
{
    watch(check_target t, std::shared_ptr<check_context> c)
        : target{std::move(t)}, context{std::move(c)}, is_down{target.is_down}
    {
    }

    // False where the main thread does not know the present state: an order in between made it
    // forget that, or the news came late.
    [[nodiscard]] bool is_as_known(check_target const& ordered) const noexcept
    {
        return ordered.is_known && ordered.is_down == is_down;
    }

    check_target target;
    std::shared_ptr<check_context> context; // Of this thread; null: no TLS.
    check_probe probe{target, context.get()};
    bool is_under_way = false;
    bool is_reported = false;
    bool is_down;
    unsigned in_a_row = 0; // Results that would change it.
    clock::time_point next{};
};

checker::checker(std::function<void()> wake) : wake_{std::move(wake)}
{
    thread_ = std::thread{[this] { run(); }};
}

checker::~checker()
{
    ending_ = true;
    wakeup_.wake();
    thread_.join();
    delete orders_.load();
}

std::uint64_t checker::follow(std::vector<check_target> targets)
{
    auto next = std::make_unique<orders>(++last_order_, std::move(targets));
    delete orders_.exchange(next.release());
    wakeup_.wake();
    return last_order_;
}

void checker::run() noexcept
{
    static_cast<void>(::pthread_setname_np(::pthread_self(), "checks"));
    lower_priority();
    while (!ending_) {
        try {
            turn();
        } catch (std::bad_alloc const&) { // There may be memory again after a while.
            static_cast<void>(::poll(nullptr, 0, static_cast<int>(limits::accept_pause.count())));
        }
    }
    watches_.clear(); // A TLS context ends on the thread that has used it.
}

void checker::turn()
{
    take_orders();
    begin_due(clock::now());
    wait(clock::now());
}

void checker::take_orders()
{
    std::unique_ptr<orders> taken{orders_.exchange(nullptr)};
    if (!taken)
        return;
    try {
        watches_ = watches_for(taken->targets);
        order_ = taken->number;
    } catch (std::bad_alloc const&) { // Another time, unless there are newer ones then.
        orders* none = nullptr;
        if (orders_.compare_exchange_strong(none, taken.get()))
            static_cast<void>(taken.release());
        throw;
    }
    under_way_ = static_cast<std::size_t>(std::ranges::count_if(
        watches_, [](std::unique_ptr<watch> const& each) { return each->is_under_way; }));
}

// The servers of an upstream share one. A context with the same files goes on.
std::shared_ptr<check_context> checker::context_for(
    check_rule const& rule, std::vector<std::unique_ptr<watch>> const& made) const
{
    if (!rule.tls)
        return {};
    for (std::vector<std::unique_ptr<watch>> const* const some : {&made, &watches_})
        for (std::unique_ptr<watch> const& each : *some)
            if (each && each->context &&
                (each->target.rule.tls == rule.tls || each->context->tls() == *rule.tls))
                return each->context;
    return std::make_shared<check_context>(rule.tls);
}

// First checks are spread over a part of the interval, so that many servers cost no burst. Watches
// that go on are moved only when there is memory for all.
std::vector<std::unique_ptr<checker::watch>> checker::watches_for(
    std::vector<check_target> const& targets)
{
    std::vector<std::unique_ptr<watch>> made(targets.size());
    std::vector<std::unique_ptr<watch>*> known(targets.size());
    clock::time_point const now = clock::now();
    for (std::size_t i = 0; i < targets.size(); ++i) {
        auto const found = std::ranges::find_if(watches_, [&](std::unique_ptr<watch> const& each) {
            return each->target.is_same_check(targets[i]) &&
                   std::ranges::find(known, &each) == known.end();
        });
        if (found != watches_.end()) {
            known[i] = &*found;
            continue;
        }
        made[i] = std::make_unique<watch>(targets[i], context_for(targets[i].rule, made));
        made[i]->next = now + targets[i].rule.interval / 4 * i / targets.size();
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (known[i] != nullptr) {
            made[i] = std::move(*known[i]);
            made[i]->is_reported = made[i]->is_reported && made[i]->is_as_known(targets[i]);
        }
    return made;
}

void checker::begin_due(clock::time_point now)
{
    for (std::unique_ptr<watch> const& each : watches_) {
        if (each->is_under_way || each->next > now || under_way_ >= limits::checks_at_once)
            continue;
        each->next = now + each->target.rule.interval;
        each->is_under_way = true;
        ++under_way_;
        settle(*each, each->probe.begin(now));
    }
}

void checker::wait(clock::time_point now)
{
    std::vector<pollfd> wanted{wakeup_.readable()};
    std::vector<watch*> waiting;
    clock::time_point next = clock::time_point::max();
    for (std::unique_ptr<watch> const& each : watches_) {
        if (each->is_under_way) {
            wanted.push_back(each->probe.wanted());
            waiting.push_back(each.get());
            next = std::min(next, each->probe.deadline());
        } else if (under_way_ < limits::checks_at_once) { // Else the end of one is waited for.
            next = std::min(next, each->next);
        }
    }
    int timeout = -1;
    if (next != clock::time_point::max())
        timeout = static_cast<int>(std::max<std::int64_t>(
            std::chrono::ceil<std::chrono::milliseconds>(next - now).count(), 0));
    static_cast<void>(::poll(wanted.data(), wanted.size(), timeout));
    if ((wanted.front().revents & POLLIN) != 0)
        wakeup_.clear();
    now = clock::now();
    for (std::size_t i = 0; i < waiting.size(); ++i)
        if (wanted[i + 1].revents != 0 || waiting[i]->probe.deadline() <= now)
            settle(*waiting[i], waiting[i]->probe.go_on(now));
}

void checker::settle(watch& one, check_probe::progress made)
{
    if (made == check_probe::progress::waits)
        return;
    one.is_under_way = false;
    --under_way_;
    bool const has_failed = made == check_probe::progress::failed;
    if (has_failed == one.is_down) {
        one.in_a_row = 0;
        if (!one.is_reported)
            tell(one, 1);
        return;
    }
    if (++one.in_a_row < (has_failed ? one.target.rule.fall : one.target.rule.rise))
        return;
    one.is_down = has_failed;
    one.is_reported = false;
    tell(one, std::exchange(one.in_a_row, 0));
}

void checker::tell(watch& one, unsigned checks)
{
    auto made = std::make_unique<check_news>();
    made->order = order_;
    made->upstream = one.target.upstream;
    made->server = one.target.server;
    made->is_down = one.is_down;
    made->checks = checks;
    if (one.is_down)
        made->reason = one.probe.reason();
    news_.post(std::move(made));
    one.is_reported = true; // If memory is short, the next result reports it.
    wake_();
}

} // namespace cleat::app
