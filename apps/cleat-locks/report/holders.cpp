#include "report/function_kinds.hpp"
#include "report/holders.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cleat::locks {
namespace {

class holder_finder
{
public:
    holder_finder(
        profile& made, traced_process const& process, std::vector<lock> const& locks,
        std::vector<std::uint32_t> const& counted_in, naming& names)
        : made_{made}, process_{process}, locks_{locks}, counted_in_{counted_in}, names_{names}
    {
        for (traced_thread const& each : process.threads)
            by_tid_.emplace(each.tid, &each);
    }

    void add_all()
    {
        for (traced_thread const& each : process_.threads) {
            for (trace_wait_for const& wait : each.waits_for)
                add_wait_for(each, wait);
            if (each.waits && !each.waits->cycle.empty())
                add_deadlock(each);
        }
        add_inversions();
    }

private:
    [[nodiscard]] traced_thread const* by_tid(std::int32_t tid) const
    {
        auto const entry = by_tid_.find(tid);
        return entry == by_tid_.end() ? nullptr : entry->second;
    }

    // only_site is the one site at which a thread has taken a lock exclusively; of several it is
    // not known which.
    [[nodiscard]] trace_site const* only_site(
        traced_thread const& thread, std::uint32_t merged) const
    {
        trace_site const* found = nullptr;
        for (trace_site const& each : thread.sites) {
            if (counted_in_[each.lock] != merged || each.how == trace_shared ||
                each.acquisitions == 0)
                continue;
            if (found != nullptr)
                return nullptr;
            found = &each;
        }
        return found;
    }

    // place names where a thread took a lock, with its most frequent stack there, or the one that
    // was taken then.
    [[nodiscard]] taken_at place(
        traced_thread const& thread, trace_site const* site, std::uint32_t stack_word = 0)
    {
        taken_at made{{thread.name, thread.tid}, "", {}};
        if (site == nullptr)
            return made;
        made.function = names_.name(names_.caller(site->return_to));
        traced_stack const* best = nullptr;
        for (traced_stack const& each : thread.stacks) {
            if (each.counts.what != trace_taken || each.counts.lock != site->lock ||
                each.counts.how != site->how || each.frames.empty() ||
                each.frames.front() != site->return_to)
                continue;
            if (stack_word != 0 && each.word + 1 == stack_word) {
                best = &each;
                break;
            }
            if (best == nullptr || best->counts.count < each.counts.count)
                best = &each;
        }
        if (best == nullptr)
            return made;
        made.stack =
            acquisition_stack(*best, locks_[counted_in_[site->lock]].kind, names_).functions;
        // Without optimization the call is in a wrapper, which is no function of the stack.
        if (is_wrapper(made.function) && made.stack.size() > 1)
            made.function = names_.name(made.stack[1]);
        return made;
    }

    void add_wait_for(traced_thread const& waiter, trace_wait_for const& wait)
    {
        trace_site const* const site = waiter.site(wait.site);
        traced_thread const* const holder = process_.thread(wait.holder);
        if (site == nullptr || holder == nullptr)
            return;
        std::uint32_t const merged = counted_in_[site->lock];
        trace_site const* const held = wait.holder_site == trace_site_unknown
                                           ? only_site(*holder, merged)
                                           : holder->site(wait.holder_site);
        lock const& target = locks_[merged];
        made_.waits_for.push_back(
            {target.name, target.kind, process_.pid, place(waiter, site), place(*holder, held),
             wait.waits, wait.ns, wait.max_ns});
    }

    void add_deadlock(traced_thread const& last)
    {
        deadlock made{process_.pid, {}};
        std::vector<std::int32_t> const& cycle = last.waits->cycle;
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            traced_thread const* const waiter = by_tid(cycle[i]);
            traced_thread const* const holder = by_tid(cycle[(i + 1) % cycle.size()]);
            if (waiter == nullptr || holder == nullptr || !waiter->waits)
                return; // One of them has gone on, by a deadline.
            std::uint32_t const merged = counted_in_[waiter->waits->lock];
            auto const site = std::ranges::find_if(waiter->sites, [&](trace_site const& each) {
                return each.lock == waiter->waits->lock &&
                       each.return_to == waiter->waits->return_to;
            });
            made.parts.push_back(
                {locks_[merged].name, waiter->waits->ns,
                 place(*waiter, site == waiter->sites.end() ? nullptr : &*site),
                 place(*holder, only_site(*holder, merged))});
        }
        made_.deadlocks.push_back(std::move(made));
    }

    using lock_pair = std::pair<std::uint32_t, std::uint32_t>;

    struct seen_order
    {
        traced_thread const* thread = nullptr;
        trace_order const* order = nullptr;
    };

    [[nodiscard]] order_side side(seen_order const& seen)
    {
        return {
            place(*seen.thread, seen.thread->site(seen.order->held_site)),
            place(*seen.thread, seen.thread->site(seen.order->site), seen.order->stack)};
    }

    // A thread alone, or threads that ran one after the other in one block, wait for nobody.
    void add_inversions()
    {
        std::map<lock_pair, std::vector<seen_order>> orders;
        for (traced_thread const& thread : process_.threads)
            for (trace_order const& order : thread.orders) {
                trace_site const* const held = thread.site(order.held_site);
                trace_site const* const asked = thread.site(order.site);
                if (held != nullptr && asked != nullptr)
                    orders[{counted_in_[held->lock], counted_in_[asked->lock]}].push_back(
                        {&thread, &order});
            }
        for (auto const& [pair, ones] : orders) {
            auto const reverse = orders.find({pair.second, pair.first});
            if (pair.first >= pair.second || reverse == orders.end())
                continue;
            for (seen_order const& one : ones) {
                auto const other = std::ranges::find_if(
                    reverse->second, [&](seen_order const& o) { return o.thread != one.thread; });
                if (other == reverse->second.end())
                    continue;
                made_.inversions.push_back(
                    {process_.pid, locks_[pair.first].name, locks_[pair.second].name, side(one),
                     side(*other)});
                break;
            }
        }
    }

    profile& made_;
    traced_process const& process_;
    std::vector<lock> const& locks_;
    std::vector<std::uint32_t> const& counted_in_;
    naming& names_;
    std::unordered_map<std::int32_t, traced_thread const*> by_tid_;
};

} // namespace

void add_holders(
    profile& made, traced_process const& process, std::vector<lock> const& locks,
    std::vector<std::uint32_t> const& counted_in, naming& names)
{
    holder_finder{made, process, locks, counted_in, names}.add_all();
}

} // namespace cleat::locks
