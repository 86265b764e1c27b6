#include "report/holders.hpp"
#include "report/named_stacks.hpp"
#include "report/profile.hpp"
#include "report/quantities.hpp"
#include "report/symbols.hpp"
#include "report/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include <sys/stat.h>

namespace cleat::locks {
namespace {

// merged_entries gives for each entry the index of the one that it is counted in: a group of one
// lock is counted in that lock, which has its own entry once a second thread has touched it.
std::vector<std::uint32_t> merged_entries(std::vector<trace_lock> const& locks)
{
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, std::uint32_t> single;
    for (std::uint32_t i = 0; i < locks.size(); ++i)
        if ((locks[i].flags & trace_group) == 0)
            single.emplace(std::tuple{locks[i].address, locks[i].made_at, locks[i].kind}, i);
    std::vector<std::uint32_t> merged;
    for (std::uint32_t i = 0; i < locks.size(); ++i) {
        trace_lock const& each = locks[i];
        bool const one = (each.flags & trace_group) != 0 && each.instances == 1;
        auto const found =
            one ? single.find({each.address, each.made_at, each.kind}) : single.end();
        merged.push_back(found == single.end() ? i : found->second);
    }
    return merged;
}

// locks_of gives a process's locks, one row each, without the threads' counts.
std::vector<lock> locks_of(traced_process const& process, symbols& names)
{
    std::vector<lock> found;
    for (trace_lock const& each : process.locks) {
        lock row;
        row.kind = static_cast<trace_kind>(each.kind);
        row.group = (each.flags & trace_group) != 0 && each.instances > 1;
        row.pid = process.pid;
        row.instances = each.instances;
        row.threads = (each.flags & trace_group) != 0
                          ? each.threads_max
                          : static_cast<unsigned>(std::popcount(each.threads));
        std::string const made =
            each.made_at != 0 ? short_name(names.functions_at(each.made_at, true).back().function)
                              : "";
        std::string const object = row.group ? "" : names.object_at(each.address);
        if (row.group)
            row.name = fmt::format(
                "{} in {}", (each.flags & trace_first_taken) != 0 ? "first taken" : "made", made);
        else if (!object.empty())
            row.name = object;
        else if (!made.empty())
            row.name = fmt::format("0x{:x}, made in {}", each.address, made);
        else
            row.name = fmt::format("0x{:x}", each.address);
        found.push_back(std::move(row));
    }
    return found;
}

// without_clock is the time of holds without that of reading the clock.
std::uint64_t without_clock(std::uint64_t ns, std::uint64_t holds, std::uint64_t clock_ns)
{
    return ns - std::min(ns, holds * clock_ns);
}

void add_site(lock& row, trace_site const& site, std::uint64_t clock_ns)
{
    lock_use& use = site.how == trace_shared ? row.readers : row.exclusive;
    (site.how == trace_again ? use.retaken : use.acquisitions) += site.acquisitions;
    use.sample.count += site.holds;
    use.sample.ns += without_clock(site.hold_ns, site.holds, clock_ns);
    use.sample.interrupted += site.interrupted;
    use.sample.interrupted_ns += without_clock(site.interrupted_ns, site.interrupted, clock_ns);
    auto const clock = static_cast<double>(clock_ns);
    use.squares +=
        site.hold_ns_squares -
        2 * clock *
            static_cast<double>(site.hold_ns - std::min(site.hold_ns, site.interrupted_ns)) +
        static_cast<double>(site.holds - site.interrupted) * clock * clock;
    use.waited.count += site.waited_holds;
    use.waited.ns += without_clock(site.waited_hold_ns, site.waited_holds, clock_ns);
    use.waited.interrupted += site.waited_interrupted;
    use.waited.interrupted_ns +=
        without_clock(site.waited_interrupted_ns, site.waited_interrupted, clock_ns);
    use.hold_max_ns = std::max(use.hold_max_ns, site.hold_max_ns);
    use.sampled += site.sampled;
    use.inner += site.inner;
    row.shared += site.shared;
    row.contended += site.contended;
    row.failed += site.failed;
    row.wait_ns += site.wait_ns;
    row.wait_max_ns = std::max(row.wait_max_ns, site.wait_max_ns);
}

// unattributed gives the acquisitions of a site that are in no stack.
std::uint64_t unattributed(trace_site const& site)
{
    return site.how == trace_again
               ? 0
               : site.acquisitions - std::min(site.acquisitions, site.attributed_acquisitions);
}

// unattributed_stack gives a site's unattributed counts a stack of its one address.
traced_stack unattributed_stack(trace_site const& site)
{
    traced_stack made;
    made.counts.what = trace_taken;
    made.counts.lock = site.lock;
    made.counts.how = site.how;
    made.counts.count = unattributed(site);
    made.counts.contended = site.unattributed_contended;
    made.counts.wait_ns = site.unattributed_wait_ns;
    made.frames.push_back(site.return_to);
    return made;
}

// changed_files are the files of a process's code that were changed or removed after it ended.
std::vector<std::string> changed_files(traced_process const& process)
{
    std::vector<std::string> found;
    for (std::string const& each : code_files(process.maps)) {
        struct stat about
        {
        };
        bool const there = ::stat(each.c_str(), &about) == 0;
        // The time of the inode's last change: the contents of a package that is installed anew are
        // dated when they were packed.
        auto const changed = static_cast<std::uint64_t>(about.st_ctim.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(about.st_ctim.tv_nsec);
        if (!there || changed > process.ended_realtime_ns)
            found.push_back(in_utf8(each));
    }
    return found;
}

// attribute_to_stacks adds a site's unattributed counts to the stacks that were taken there, in
// their proportions: they were taken at random. False: no stack was taken there.
bool attribute_to_stacks(std::vector<traced_stack>& stacks, trace_site const& site)
{
    std::vector<trace_stack*> taken;
    std::vector<std::uint64_t> until; // For each, the sum of the counts up to it.
    for (traced_stack& each : stacks)
        if (each.counts.what == trace_taken && each.counts.lock == site.lock &&
            each.counts.how == site.how && !each.frames.empty() &&
            each.frames.front() == site.return_to) {
            taken.push_back(&each.counts);
            until.push_back((until.empty() ? 0 : until.back()) + each.counts.count);
        }
    if (until.empty() || until.back() == 0)
        return false;
    auto const give = [&](std::uint64_t amount, std::uint64_t trace_stack::*counter) {
        std::uint64_t given = 0;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            auto const part = static_cast<long double>(until[i]) / until.back();
            std::uint64_t const by_now =
                i + 1 == taken.size()
                    ? amount
                    : static_cast<std::uint64_t>(static_cast<long double>(amount) * part);
            taken[i]->*counter += by_now - given;
            given = by_now;
        }
    };
    give(unattributed(site), &trace_stack::count);
    give(site.unattributed_contended, &trace_stack::contended);
    give(site.unattributed_wait_ns, &trace_stack::wait_ns);
    return true;
}

class profile_builder
{
public:
    explicit profile_builder(profile& made) : profile_{made} {}

    void add(traced_process const& process)
    {
        symbols process_symbols{process.maps};
        naming names{profile_, process_symbols};
        std::vector<lock> locks = locks_of(process, process_symbols);
        counted_in_ = merged_entries(process.locks);
        takers_.assign(locks.size(), {});
        blocks_.assign(locks.size(), {});
        failed_.assign(locks.size(), {});
        std::uint64_t lost = process.threads_lost + process.slots_lost;
        std::uint64_t nested = 0;
        std::uint64_t acquisitions = 0;
        for (traced_thread const& each : process.threads) {
            for (trace_site const& site : each.sites)
                acquisitions += site.acquisitions + site.failed + (site.wait_ns > 0 ? 1 : 0);
            add(each, process, locks, names);
            lost += each.sites_lost + each.stacks_lost;
            profile_.waits_for_lost += each.waits_for_lost;
            nested += each.nested;
        }
        add_holders(profile_, process, locks, counted_in_, names);
        for (std::size_t i = 0; i < locks.size(); ++i) {
            name_takers(locks[i], takers_[i]);
            name_failures(locks[i], failed_[i]);
            // More threads than blocks touched the lock: several threads may have counted in one
            // block, or the first thread counted in the group's entry.
            if (locks[i].threads > blocks_[i].count && blocks_[i].reused)
                locks[i].busiest = 0;
        }
        std::erase_if(locks, [](lock const& l) {
            return l.acquisitions() == 0 && l.failed == 0 && l.wait_ns == 0;
        });
        std::ranges::move(locks, std::back_inserter(profile_.locks));
        std::string command;
        for (std::string const& word : process.arguments)
            command += (command.empty() ? "" : " ") + word;
        profile_.processes.push_back(
            {command.empty() ? process.program : command, process.pid, process.ended,
             process.ended_ns - process.began_ns, process.thread_count, lost, nested,
             process.blocks, process.blocks_cut, process.runs, !process.end_known, acquisitions,
             process.window, process.maps.empty() && !process.threads.empty(),
             process.wait_status});
        add_off_cpu(process, process_symbols);
        for (std::string const& each : changed_files(process))
            if (std::ranges::find(profile_.changed_files, each) == profile_.changed_files.end())
                profile_.changed_files.push_back(each);
        profile_.cpu_hz = std::max(profile_.cpu_hz, process.cpu_hz);
        profile_.interruptions = profile_.interruptions && process.interruptions;
        profile_.line_ns = std::max(profile_.line_ns, process.line_ns);
    }

    // finish moves the stacks into the profile, equal ones as one, and sorts all parts.
    void finish()
    {
        for (auto& [functions, counts] : stacks_) {
            profile_.stacks.push_back({functions, counts});
            profile_.total += counts;
        }
        for (lock& each : profile_.locks)
            each.no_core_ns = profile_.no_core_ns;
        std::ranges::stable_sort(profile_.locks, [](lock const& a, lock const& b) {
            auto const rank = [](lock const& l) {
                return std::tuple{
                    l.is_lock(), l.wait_ns, l.is_lock() ? l.shared : 0, l.acquisitions()};
            };
            return rank(a) > rank(b);
        });
        std::ranges::stable_sort(profile_.threads, std::greater{}, [](thread_share const& t) {
            return std::pair{t.counts.blocked_ns, t.cpu_ns};
        });
        std::ranges::stable_sort(profile_.waits_for, std::greater{}, &holder_wait::ns);
        std::ranges::stable_sort(profile_.off_cpu, std::greater{}, &off_cpu_place::ns);
        std::ranges::stable_sort(profile_.unended_waits, std::greater{}, &unended_wait::ns);
    }

private:
    void add(
        traced_thread const& thread, traced_process const& process, std::vector<lock>& locks,
        naming& names)
    {
        thread_share share{thread.name,     process.pid,   thread.tid, thread.threads,
                           thread.lived_ns, thread.cpu_ns, {},         thread.lived_at_least};
        auto const keep = [&](stack const& one) {
            stacks_[one.functions] += one.counts;
            share.counts += one.counts;
        };
        auto const add_acquisitions = [&](traced_stack const& one) {
            std::uint32_t const merged = counted_in_[one.counts.lock];
            lock const& target = locks[merged];
            stack const named = acquisition_stack(one, target.kind, names);
            takers_[merged][named.functions] += one.counts.count + one.counts.wait_ns / 100;
            keep(named);
        };
        std::vector<traced_stack> stacks = thread.stacks;
        for (trace_site const& site : thread.sites)
            if ((unattributed(site) > 0 || site.unattributed_wait_ns > 0) &&
                !attribute_to_stacks(stacks, site))
                add_acquisitions(unattributed_stack(site));
        for (traced_stack const& each : stacks) {
            if (each.counts.what == trace_taken)
                add_acquisitions(each);
            else if (std::optional<stack> const one = cpu_stack(each, names, profile_.samples_own))
                keep(*one);
        }
        std::map<std::uint32_t, std::uint64_t> taken_here;
        for (trace_site const& site : thread.sites) {
            add_site(locks[counted_in_[site.lock]], site, process.clock_ns);
            taken_here[counted_in_[site.lock]] += site.acquisitions;
            if (site.failed > 0)
                failed_[counted_in_[site.lock]][names.caller(site.return_to)] += site.failed;
        }
        for (auto const& [merged, times] : taken_here) {
            locks[merged].busiest = std::max(locks[merged].busiest, times);
            ++blocks_[merged].count;
            blocks_[merged].reused = blocks_[merged].reused || thread.threads > 1;
        }
        if (thread.waits) {
            lock const& target = locks[counted_in_[thread.waits->lock]];
            profile_.unended_waits.push_back(
                {target.name, target.kind,
                 profile_.functions[names.caller(thread.waits->return_to)], thread.name,
                 process.pid, thread.tid, thread.waits->ns});
        }
        profile_.samples_own += thread.samples_own;
        profile_.thread_ns += share.lived_ns;
        profile_.thread_ns_at_least = profile_.thread_ns_at_least || share.lived_at_least;
        profile_.cpu_ns += share.cpu_ns;
        profile_.threads.push_back(std::move(share));
    }

    void add_off_cpu(traced_process const& process, symbols& names)
    {
        off_cpu_record const& record = process.off_cpu;
        profile_.off_cpu_samples += record.samples;
        profile_.no_core_ns += record.no_core_ns;
        if (!record.not_sampled.empty())
            profile_.not_sampled.push_back(record.not_sampled);
        for (off_cpu_wait const& each : record.waits) {
            std::string object = each.address != 0 ? names.object_at(each.address) : "";
            if (each.address != 0 && object.empty())
                object = fmt::format("0x{:x}", each.address);
            profile_.off_cpu.push_back(
                {each.thread, process.pid, each.tid, call_name(each.call), object,
                 each.code != 0 ? names.functions_at(each.code, true).front().function : "",
                 each.ns, each.samples});
        }
    }

    using by_stack = std::map<std::vector<std::uint32_t>, std::uint64_t>;

    // The blocks of the trace with counts of a lock.
    struct lock_blocks
    {
        unsigned count = 0;
        bool reused = false; // One of them has had several threads, one after the other.
    };

    void name_takers(lock& target, by_stack const& takers)
    {
        constexpr std::size_t shown_max = 4;
        auto const most = std::ranges::max_element(
            takers, {}, [](by_stack::value_type const& each) { return each.second; });
        if (most == takers.end())
            return;
        for (std::size_t i = 1; i < most->first.size() && i <= shown_max; ++i)
            target.taken_by.push_back(profile_.functions[most->first[i]]);
    }

    void name_failures(lock& target, std::map<std::uint32_t, std::uint64_t> const& failed)
    {
        constexpr std::size_t shown_max = 3;
        for (auto const& [function, count] : failed)
            target.failed_in.push_back({profile_.functions[function], count});
        std::ranges::stable_sort(target.failed_in, std::greater{}, &failed_tries::count);
        if (target.failed_in.size() > shown_max)
            target.failed_in.resize(shown_max);
    }

    profile& profile_;
    std::map<std::vector<std::uint32_t>, weights> stacks_;
    std::vector<by_stack> takers_;
    std::vector<lock_blocks> blocks_; // By lock of the process, as the next two.
    std::vector<std::map<std::uint32_t, std::uint64_t>> failed_; // By function.
    std::vector<std::uint32_t> counted_in_; // By lock of the process: the lock of its counts.
};

double percent(std::uint64_t part, std::uint64_t whole) noexcept
{
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace

weights& weights::operator+=(weights const& other) noexcept
{
    blocked_ns += other.blocked_ns;
    waiting_ns += other.waiting_ns;
    acquisitions += other.acquisitions;
    contended += other.contended;
    cpu += other.cpu;
    cpu_locks += other.cpu_locks;
    cpu_references += other.cpu_references;
    return *this;
}

bool lock::holds_contradict_waits() const noexcept
{
    // A thread that is woken up may wait for a core: so long, or for all the time that was sampled.
    double const wake_up_ns = std::max(1e6, static_cast<double>(no_core_ns));
    return is_lock() && static_cast<double>(wait_max_ns) >
                            wake_up_ns + 2 * (exclusive.held_with_interrupted_ns() +
                                              readers.held_with_interrupted_ns());
}

off_cpu_parts profile::off_cpu_time() const noexcept
{
    off_cpu_parts made;
    made.ns = thread_ns - std::min(thread_ns, cpu_ns);
    made.no_core_ns = no_core_ns;
    for (off_cpu_place const& each : off_cpu)
        made.sampled_ns += each.ns;
    for (lock const& each : locks) {
        std::uint64_t& part = each.kind == trace_condition   ? made.condition_ns
                              : each.kind == trace_semaphore ? made.semaphore_ns
                              : each.kind == trace_once      ? made.once_ns
                              : each.kind == trace_futex     ? made.futex_ns
                                                             : made.blocked_ns;
        part += each.wait_ns;
    }
    return made;
}

double profile::blocked_percent(weights const& counts) const noexcept
{
    return percent(counts.blocked_ns, thread_ns);
}

double profile::lock_cpu_percent(weights const& counts) const noexcept
{
    return percent(counts.cpu_locks, total.cpu);
}

double profile::reference_cpu_percent(weights const& counts) const noexcept
{
    return percent(counts.cpu_references, total.cpu);
}

std::string contradiction_text(lock const& l)
{
    if (!l.holds_contradict_waits())
        return "";
    double const held =
        l.exclusive.held_with_interrupted_ns() + l.readers.held_with_interrupted_ns();
    if (held <= 0)
        return fmt::format(
            "no hold of it was timed, and a wait took {}: how long it is held is not known",
            time_text(static_cast<double>(l.wait_max_ns)));
    return fmt::format(
        "a wait took {}, and by the holds that were timed all of them took {}: long ones are "
        "missing, so held is too low",
        time_text(static_cast<double>(l.wait_max_ns)), time_text(held));
}

std::string_view kind_name(trace_kind kind) noexcept
{
    switch (kind) {
    case trace_mutex:
        return "mutex";
    case trace_rwlock:
        return "rwlock";
    case trace_spin:
        return "spin";
    case trace_condition:
        return "condition";
    case trace_semaphore:
        return "semaphore";
    case trace_once:
        return "once";
    case trace_futex:
        return "futex";
    }
    return "lock";
}

profile make_profile(std::vector<traced_process> const& traced, std::optional<int> pid)
{
    profile made;
    profile_builder builder{made};
    for (traced_process const& each : traced)
        if (!pid || each.pid == *pid)
            builder.add(each);
    if (made.processes.empty())
        throw std::runtime_error{fmt::format("process {} has left no trace here", pid.value_or(0))};
    builder.finish();
    return made;
}

} // namespace cleat::locks
