#include "report/profile.hpp"
#include "report/quantities.hpp"
#include "report/symbols.hpp"

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
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

namespace cleat::locks {
namespace {

constexpr std::string_view recorder = "libcleat-locks.so";

// naming turns addresses of one process into functions of the whole profile.
class naming
{
public:
    naming(profile& into, symbols& from) : into_{into}, from_{from} {}

    struct named
    {
        std::uint32_t function = 0;
        bool of_recorder = false;
        bool of_libc = false;
    };

    // The functions at an address, the innermost first.
    std::vector<named> of(std::uint64_t address, bool returns)
    {
        std::vector<named> found;
        for (place const& each : from_.of(address, returns))
            found.push_back(
                {number(each.function), each.module == recorder,
                 each.module.starts_with("libc.so") || each.module.starts_with("libpthread")});
        return found;
    }

    std::uint32_t number(std::string const& function)
    {
        auto const [at, fresh] =
            numbers().try_emplace(function, static_cast<std::uint32_t>(into_.functions.size()));
        if (fresh)
            into_.functions.push_back(function);
        return at->second;
    }

private:
    std::unordered_map<std::string, std::uint32_t>& numbers()
    {
        if (numbers_.empty())
            for (std::uint32_t i = 0; i < into_.functions.size(); ++i)
                numbers_.emplace(into_.functions[i], i);
        return numbers_;
    }

    profile& into_;
    symbols& from_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

std::string_view function_of(trace_kind kind, std::uint32_t how) noexcept
{
    switch (kind) {
    case trace_mutex:
        return "pthread_mutex_lock";
    case trace_rwlock:
        return how == trace_shared ? "pthread_rwlock_rdlock" : "pthread_rwlock_wrlock";
    case trace_spin:
        return "pthread_spin_lock";
    case trace_condition:
        return "pthread_cond_wait";
    case trace_semaphore:
        return "sem_wait";
    case trace_once:
        return "pthread_once";
    }
    return "lock";
}

// A stack of an acquisition begins in the lock function, which is not among its frames.
stack taken_stack(traced_stack const& from, trace_kind kind, naming& names)
{
    stack made;
    made.functions.push_back(names.number(std::string{function_of(kind, from.counts.how)}));
    for (std::uint64_t const frame : from.frames)
        for (naming::named const& each : names.of(frame, true))
            if (!each.of_recorder)
                made.functions.push_back(each.function);
    made.counts.acquisitions = from.counts.count;
    made.counts.contended = from.counts.contended;
    (kind <= trace_spin ? made.counts.blocked_ns : made.counts.waiting_ns) = from.counts.wait_ns;
    return made;
}

// A CPU sample begins where it was. It is the lock functions' when one of them is innermost, or
// libc's insides below one that the recorder stands in front of; and the recorder's own when that
// is innermost itself, or reads the clock.
std::optional<stack> cpu_stack(
    traced_stack const& from, naming& names, profile const& in, std::uint64_t& own)
{
    stack made;
    bool only_libc = true; // So far, from the innermost on.
    bool of_lock = false;
    for (std::size_t i = 0; i < from.frames.size(); ++i)
        for (naming::named const& each : names.of(from.frames[i], i > 0)) {
            if (!each.of_recorder) {
                made.functions.push_back(each.function);
                only_libc = only_libc && each.of_libc;
                continue;
            }
            bool const begun = !made.functions.empty();
            if (!begun || (!only_libc && made.functions.size() == 1)) {
                own += from.counts.count;
                return std::nullopt;
            }
            of_lock = of_lock || only_libc;
            only_libc = false;
        }
    if (made.functions.empty())
        return std::nullopt;
    std::string const& leaf = in.functions[made.functions.front()];
    made.counts.cpu = from.counts.count;
    if (of_lock || is_lock_function(leaf))
        made.counts.cpu_locks = from.counts.count;
    else if (is_reference_count(leaf))
        made.counts.cpu_references = from.counts.count;
    return made;
}

// as_one says for each entry which one tells of it: a group of one lock is that lock, also after a
// second thread touched it and it got an entry of its own.
std::vector<std::uint32_t> as_one(std::vector<trace_lock> const& locks)
{
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, std::uint32_t> apart;
    for (std::uint32_t i = 0; i < locks.size(); ++i)
        if ((locks[i].flags & trace_group) == 0)
            apart.emplace(std::tuple{locks[i].address, locks[i].made_at, locks[i].kind}, i);
    std::vector<std::uint32_t> told;
    for (std::uint32_t i = 0; i < locks.size(); ++i) {
        trace_lock const& each = locks[i];
        bool const one = (each.flags & trace_group) != 0 && each.instances == 1;
        auto const found = one ? apart.find({each.address, each.made_at, each.kind}) : apart.end();
        told.push_back(found == apart.end() ? i : found->second);
    }
    return told;
}

// What a process's locks were, one row each, before the threads have told what they did with them.
std::vector<lock> locks_of(traced_process const& process, symbols& from)
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
            each.made_at != 0 ? short_name(from.of(each.made_at, true).back().function) : "";
        std::string const object = row.group ? "" : from.object(each.address);
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

void add_site(lock& to, trace_site const& site, std::uint64_t clock_ns)
{
    lock_use& use = site.how == trace_shared ? to.readers : to.exclusive;
    (site.how == trace_again ? use.again : use.acquisitions) += site.acquisitions;
    use.holds += site.holds;
    use.hold_ns += site.hold_ns - std::min(site.hold_ns, site.holds * clock_ns);
    use.hold_max_ns = std::max(use.hold_max_ns, site.hold_max_ns);
    use.interrupted += site.interrupted;
    use.interrupted_ns +=
        site.interrupted_ns - std::min(site.interrupted_ns, site.interrupted * clock_ns);
    to.shared += site.shared;
    to.contended += site.contended;
    to.failed += site.failed;
    to.wait_ns += site.wait_ns;
    to.wait_max_ns = std::max(to.wait_max_ns, site.wait_max_ns);
}

// What a site has not told by a stack yet is told by its one address.
traced_stack untold(trace_site const& site)
{
    traced_stack made;
    made.counts.what = trace_taken;
    made.counts.lock = site.lock;
    made.counts.how = site.how;
    made.counts.count = site.unattributed_acquisitions;
    made.counts.contended = site.unattributed_contended;
    made.counts.wait_ns = site.unattributed_wait_ns;
    made.frames.push_back(site.return_to);
    return made;
}

// changed_files are those of a process's code that were changed or taken away after it ended.
std::vector<std::string> changed_files(traced_process const& process)
{
    std::vector<std::string> found;
    for (std::string const& each : code_files(process.maps)) {
        struct stat about
        {
        };
        bool const there = ::stat(each.c_str(), &about) == 0;
        // The time of the last change to the file or to what is known of it: a package that is
        // installed anew has files as old as when they were packed.
        auto const changed = static_cast<std::uint64_t>(about.st_ctim.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(about.st_ctim.tv_nsec);
        if (!there || changed > process.ended_realtime_ns)
            found.push_back(each);
    }
    return found;
}

// tell_stacks adds what a site has not told to the stacks that were taken there, in their
// proportions: they were taken at random. False: there is none.
bool tell_stacks(std::vector<traced_stack>& stacks, trace_site const& site)
{
    std::vector<trace_stack*> there;
    std::vector<std::uint64_t> until; // Of each its count, and those of all before it.
    for (traced_stack& each : stacks)
        if (each.counts.what == trace_taken && each.counts.lock == site.lock &&
            each.counts.how == site.how && !each.frames.empty() &&
            each.frames.front() == site.return_to) {
            there.push_back(&each.counts);
            until.push_back((until.empty() ? 0 : until.back()) + each.counts.count);
        }
    if (until.empty() || until.back() == 0)
        return false;
    auto const give = [&](std::uint64_t what, std::uint64_t trace_stack::*to) {
        std::uint64_t given = 0;
        for (std::size_t i = 0; i < there.size(); ++i) {
            auto const part = static_cast<long double>(until[i]) / until.back();
            std::uint64_t const by_now =
                i + 1 == there.size()
                    ? what
                    : static_cast<std::uint64_t>(static_cast<long double>(what) * part);
            there[i]->*to += by_now - given;
            given = by_now;
        }
    };
    give(site.unattributed_acquisitions, &trace_stack::count);
    give(site.unattributed_contended, &trace_stack::contended);
    give(site.unattributed_wait_ns, &trace_stack::wait_ns);
    return true;
}

class builder
{
public:
    explicit builder(profile& into) : into_{into} {}

    void add(traced_process const& process)
    {
        symbols from{process.maps};
        naming names{into_, from};
        std::vector<lock> locks = locks_of(process, from);
        told_by_ = as_one(process.locks);
        takers_.assign(locks.size(), {});
        told_of_.assign(locks.size(), {});
        std::uint64_t lost = process.threads_lost + process.slots_lost;
        std::uint64_t nested = 0;
        for (traced_thread const& each : process.threads) {
            add(each, process, locks, names);
            lost += each.sites_lost + each.stacks_lost;
            nested += each.nested;
        }
        for (std::size_t i = 0; i < locks.size(); ++i) {
            name_takers(locks[i], takers_[i]);
            // More threads than blocks: what one block tells may be many threads' doing, or one had
            // the lock to itself, in a group, until the next one touched it.
            if (locks[i].threads > told_of_[i].blocks && told_of_[i].in_turns)
                locks[i].busiest = 0;
        }
        std::erase_if(locks, [](lock const& l) {
            return l.acquisitions() == 0 && l.failed == 0 && l.wait_ns == 0;
        });
        std::ranges::move(locks, std::back_inserter(into_.locks));
        std::string command;
        for (std::string const& word : process.arguments)
            command += (command.empty() ? "" : " ") + word;
        into_.processes.push_back(
            {command.empty() ? process.program : command, process.pid, process.ended,
             process.ended_ns - process.began_ns, process.thread_count, lost, nested,
             process.blocks, process.blocks_cut, process.runs, !process.end_known});
        for (std::string const& each : changed_files(process))
            if (std::ranges::find(into_.changed_files, each) == into_.changed_files.end())
                into_.changed_files.push_back(each);
        into_.cpu_hz = std::max(into_.cpu_hz, process.cpu_hz);
        into_.interruptions = into_.interruptions && process.interruptions;
    }

    // finish makes one stack of all that are the same, and puts everything in order.
    void finish()
    {
        for (auto& [functions, counts] : stacks_) {
            into_.stacks.push_back({functions, counts});
            into_.total += counts;
        }
        std::ranges::stable_sort(into_.locks, [](lock const& a, lock const& b) {
            auto const rank = [](lock const& l) {
                return std::tuple{
                    l.is_lock(), l.wait_ns, l.is_lock() ? l.shared : 0, l.acquisitions()};
            };
            return rank(a) > rank(b);
        });
        std::ranges::stable_sort(into_.threads, std::greater{}, [](thread_share const& t) {
            return std::pair{t.counts.blocked_ns, t.cpu_ns};
        });
        std::ranges::stable_sort(into_.unended_waits, std::greater{}, &unended_wait::ns);
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
        auto const taken = [&](traced_stack const& one) {
            std::uint32_t const told = told_by_[one.counts.lock];
            lock const& of = locks[told];
            stack const named = taken_stack(one, of.kind, names);
            takers_[told][named.functions] += one.counts.count + one.counts.wait_ns / 100;
            keep(named);
        };
        std::vector<traced_stack> stacks = thread.stacks;
        for (trace_site const& site : thread.sites)
            if ((site.unattributed_acquisitions > 0 || site.unattributed_wait_ns > 0) &&
                !tell_stacks(stacks, site))
                taken(untold(site));
        for (traced_stack const& each : stacks) {
            if (each.counts.what == trace_taken)
                taken(each);
            else if (
                std::optional<stack> const one = cpu_stack(each, names, into_, into_.samples_own))
                keep(*one);
        }
        std::map<std::uint32_t, std::uint64_t> mine;
        for (trace_site const& site : thread.sites) {
            add_site(locks[told_by_[site.lock]], site, process.clock_ns);
            mine[told_by_[site.lock]] += site.acquisitions;
        }
        for (auto const& [told, times] : mine) {
            locks[told].busiest = std::max(locks[told].busiest, times);
            ++told_of_[told].blocks;
            told_of_[told].in_turns = told_of_[told].in_turns || thread.threads > 1;
        }
        if (thread.waits) {
            lock const& of = locks[told_by_[thread.waits->lock]];
            std::vector<naming::named> const in = names.of(thread.waits->return_to, true);
            into_.unended_waits.push_back(
                {of.name, of.kind, into_.functions[in.front().function], thread.name, process.pid,
                 thread.tid, thread.waits->ns});
        }
        into_.samples_own += thread.samples_own;
        into_.thread_ns += share.lived_ns;
        into_.thread_ns_at_least = into_.thread_ns_at_least || share.lived_at_least;
        into_.cpu_ns += share.cpu_ns;
        into_.threads.push_back(std::move(share));
    }

    using by_stack = std::map<std::vector<std::uint32_t>, std::uint64_t>;

    // The blocks of the trace that tell something of a lock.
    struct telling
    {
        unsigned blocks = 0;
        bool in_turns = false; // One of them has had several threads, one after the other.
    };

    void name_takers(lock& of, by_stack const& takers)
    {
        constexpr std::size_t shown_max = 4;
        auto const most = std::ranges::max_element(
            takers, {}, [](by_stack::value_type const& each) { return each.second; });
        if (most == takers.end())
            return;
        for (std::size_t i = 1; i < most->first.size() && i <= shown_max; ++i)
            of.taken_by.push_back(into_.functions[most->first[i]]);
    }

    profile& into_;
    std::map<std::vector<std::uint32_t>, weights> stacks_;
    std::vector<by_stack> takers_;
    std::vector<telling> told_of_;       // By lock of the process.
    std::vector<std::uint32_t> told_by_; // By lock of the process: the one that its counts go to.
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

double lock_use::mean_hold_ns() const noexcept
{
    bool const all = interrupted == holds;
    std::uint64_t const count = all ? holds : holds - interrupted;
    std::uint64_t const ns = all ? hold_ns : hold_ns - std::min(hold_ns, interrupted_ns);
    return count > 0 ? static_cast<double>(ns) / static_cast<double>(count) : 0;
}

double profile::blocked_percent(weights const& of) const noexcept
{
    return percent(of.blocked_ns, thread_ns);
}

double profile::lock_cpu_percent(weights const& of) const noexcept
{
    return percent(of.cpu_locks, total.cpu);
}

double profile::reference_cpu_percent(weights const& of) const noexcept
{
    return percent(of.cpu_references, total.cpu);
}

bool is_lock_function(std::string_view name)
{
    // glibc's own names have underscores in front, and versions behind.
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    constexpr std::array beginnings{
        "pthread_mutex_",
        "pthread_rwlock_",
        "pthread_spin_",
        "pthread_once",
        "lll_",
        "futex_",
        "CRYPTO_THREAD_read_lock",
        "CRYPTO_THREAD_write_lock",
        "CRYPTO_THREAD_unlock",
        "CRYPTO_MUTEX_lock",
        "CRYPTO_MUTEX_unlock",
        "CRYPTO_STATIC_MUTEX_lock",
        "CRYPTO_STATIC_MUTEX_unlock",
        "std::mutex::",
        "std::shared_mutex::"};
    return std::ranges::any_of(
        beginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

bool is_reference_count(std::string_view name)
{
    if (std::size_t const at = name.find('('); at != std::string_view::npos)
        name = name.substr(0, at);
    auto const ends = [&](std::string_view with) { return name.ends_with(with); };
    auto const begins = [&](std::string_view with) { return name.starts_with(with); };
    if (ends("_up_ref") || begins("CRYPTO_UP_REF") || begins("CRYPTO_DOWN_REF") ||
        begins("CRYPTO_refcount_") || begins("CRYPTO_atomic_"))
        return true;
    // Own time of a free that only counts down; what frees in earnest does so in malloc's
    // functions.
    constexpr std::array objects{"EVP_", "X509_", "SSL_", "ossl_", "OSSL_", "BIO_", "RSA_", "EC_"};
    if (ends("_free") && std::ranges::any_of(objects, begins))
        return true;
    constexpr std::array inside{"_Sp_counted_base",      "__shared_count",
                                "__exchange_and_add",    "__atomic_add",
                                "intrusive_ptr_add_ref", "intrusive_ptr_release"};
    return std::ranges::any_of(
        inside, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

std::string interrupted_text(lock_use const& use)
{
    if (use.interrupted == 0 || use.interrupted * 10 < use.holds)
        return "";
    if (use.interrupted == use.holds)
        return fmt::format(
            "interrupted in all of its {} timed holds: held has time without a core in it",
            use.holds);
    return fmt::format(
        "interrupted in {} of its {} timed holds: held is that of the others", use.interrupted,
        use.holds);
}

std::string_view word_of(trace_kind kind) noexcept
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
    }
    return "lock";
}

profile profile_of(std::vector<traced_process> const& traced, std::optional<int> pid)
{
    profile made;
    builder from{made};
    for (traced_process const& each : traced)
        if (!pid || each.pid == *pid)
            from.add(each);
    if (made.processes.empty())
        throw std::runtime_error{fmt::format("process {} has left no trace here", pid.value_or(0))};
    from.finish();
    return made;
}

} // namespace cleat::locks
