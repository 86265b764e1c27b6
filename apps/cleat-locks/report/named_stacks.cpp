#include "report/function_kinds.hpp"
#include "report/named_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cleat::locks {
namespace {

constexpr std::string_view recorder_name = "libcleat-locks.so";

std::string_view lock_function(trace_kind kind, std::uint32_t how) noexcept
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
    case trace_futex:
        return "futex";
    }
    return "lock";
}

} // namespace

std::vector<naming::named> naming::functions_at(std::uint64_t address, bool returns)
{
    std::vector<named> found;
    for (place const& each : symbols_.functions_at(address, returns))
        found.push_back(
            {number(each.function), each.module == recorder_name,
             each.module.starts_with("libc.so") || each.module.starts_with("libpthread")});
    return found;
}

std::uint32_t naming::caller(std::uint64_t return_to)
{
    std::vector<named> const there = functions_at(return_to, true);
    auto const own = std::ranges::find_if(
        there, [&](named const& each) { return !is_wrapper(name(each.function)); });
    return own == there.end() ? there.front().function : own->function;
}

std::uint32_t naming::number(std::string const& function)
{
    auto const [entry, fresh] =
        numbers().try_emplace(function, static_cast<std::uint32_t>(profile_.functions.size()));
    if (fresh)
        profile_.functions.push_back(function);
    return entry->second;
}

void naming::fold_wrappers(std::vector<std::uint32_t>& functions) const
{
    auto const first = functions.begin() + 1;
    auto const own = std::find_if(
        first, functions.end(), [&](std::uint32_t each) { return !is_wrapper(name(each)); });
    if (own != functions.end())
        functions.erase(first, own);
}

std::unordered_map<std::string, std::uint32_t>& naming::numbers()
{
    if (numbers_.empty())
        for (std::uint32_t i = 0; i < profile_.functions.size(); ++i)
            numbers_.emplace(profile_.functions[i], i);
    return numbers_;
}

stack acquisition_stack(traced_stack const& traced, trace_kind kind, naming& names)
{
    stack made;
    made.functions.push_back(names.number(std::string{lock_function(kind, traced.counts.how)}));
    for (std::uint64_t const frame : traced.frames)
        for (naming::named const& each : names.functions_at(frame, true))
            if (!each.of_recorder)
                made.functions.push_back(each.function);
    names.fold_wrappers(made.functions);
    made.counts.acquisitions = traced.counts.count;
    made.counts.contended = traced.counts.contended;
    (kind <= trace_spin ? made.counts.blocked_ns : made.counts.waiting_ns) = traced.counts.wait_ns;
    return made;
}

std::optional<stack> cpu_stack(traced_stack const& traced, naming& names, std::uint64_t& own)
{
    stack made;
    bool only_libc = true; // All frames so far, from the innermost on, are libc's.
    bool of_lock = false;
    for (std::size_t i = 0; i < traced.frames.size(); ++i)
        for (naming::named const& each : names.functions_at(traced.frames[i], i > 0)) {
            if (!each.of_recorder) {
                made.functions.push_back(each.function);
                only_libc = only_libc && each.of_libc;
                continue;
            }
            bool const begun = !made.functions.empty();
            if (!begun || (!only_libc && made.functions.size() == 1)) {
                own += traced.counts.count;
                return std::nullopt;
            }
            of_lock = of_lock || only_libc;
            only_libc = false;
        }
    if (made.functions.empty())
        return std::nullopt;
    std::string const& leaf = names.name(made.functions.front());
    made.counts.cpu = traced.counts.count;
    if (of_lock || is_lock_function(leaf))
        made.counts.cpu_locks = traced.counts.count;
    else if (is_reference_count(leaf))
        made.counts.cpu_references = traced.counts.count;
    return made;
}

} // namespace cleat::locks
