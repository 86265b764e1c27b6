#include "report/holders_text.hpp"
#include "report/quantities.hpp"
#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace cleat::locks {
namespace {

using output = std::back_insert_iterator<std::string>;

constexpr std::size_t stack_shown_max = 10;
constexpr std::size_t waits_with_stacks = 3; // The longest.

std::string thread_text(thread_name const& thread)
{
    return fmt::format("{} ({})", thread.name, thread.tid);
}

std::string function_text(taken_at const& place)
{
    return place.function.empty() ? "one of several functions" : short_name(place.function);
}

// put_stack puts a stack without its first function, which is the lock's.
void put_stack(output text, profile const& recorded, taken_at const& place)
{
    std::span<std::uint32_t const> const all{place.stack};
    if (all.size() < 2)
        return;
    for (std::uint32_t const each : all.subspan(1, std::min(all.size() - 1, stack_shown_max)))
        fmt::format_to(text, "          {}\n", short_name(recorded.functions[each]));
}

void put_side(
    output text, profile const& recorded, order_side const& side, std::string const& had,
    std::string const& asked)
{
    fmt::format_to(
        text, "      {} had {}, taken in {},\n", thread_text(side.had.thread), had,
        function_text(side.had));
    put_stack(text, recorded, side.had);
    fmt::format_to(text, "      and asked for {} in {}\n", asked, function_text(side.asked));
    put_stack(text, recorded, side.asked);
}

} // namespace

std::string deadlocks_text(profile const& recorded)
{
    std::string text;
    output const end = std::back_inserter(text);
    for (deadlock const& each : recorded.deadlocks) {
        fmt::format_to(
            end,
            "\nDEADLOCK of {} threads in process {}: each waits for a lock that the next has\n",
            each.parts.size(), each.pid);
        for (cycle_part const& part : each.parts) {
            fmt::format_to(
                end, "  {} has waited {} for {}, in {}\n", thread_text(part.waiter.thread),
                time_text(static_cast<double>(part.ns)), part.lock, function_text(part.waiter));
            put_stack(end, recorded, part.waiter);
            fmt::format_to(
                end, "      {} has it, taken in {}\n", thread_text(part.holder.thread),
                function_text(part.holder));
            put_stack(end, recorded, part.holder);
        }
    }
    return text;
}

std::string waits_for_text(profile const& recorded, std::size_t most)
{
    if (recorded.waits_for.empty())
        return "";
    std::uint64_t attributed = 0;
    for (holder_wait const& each : recorded.waits_for)
        attributed += each.ns;
    std::string text = fmt::format(
        "\nLock holders and waiters: {} of {} blocked{}\n{:>9} {:>8} {:>9}\n",
        time_text(static_cast<double>(attributed)),
        time_text(static_cast<double>(recorded.total.blocked_ns)),
        recorded.waits_for_lost > 0
            ? fmt::format("; {} waits found no room here", recorded.waits_for_lost)
            : "",
        "waited", "waits", "longest");
    std::size_t with_stacks = waits_with_stacks;
    output const end = std::back_inserter(text);
    for (holder_wait const& each : first_rows(recorded.waits_for, most)) {
        fmt::format_to(
            end, "{:>9} {:>8} {:>9}  {} in {} waited for {} in {}: {} {}\n",
            time_text(static_cast<double>(each.ns)), count_text(each.waits),
            time_text(static_cast<double>(each.max_ns)), thread_text(each.waiter.thread),
            function_text(each.waiter), thread_text(each.holder.thread), function_text(each.holder),
            kind_name(each.kind), each.lock);
        if (with_stacks == 0)
            continue;
        --with_stacks;
        put_stack(end, recorded, each.waiter);
        fmt::format_to(end, "      while this had taken it\n");
        put_stack(end, recorded, each.holder);
    }
    return text + more_text(recorded.waits_for.size(), most);
}

std::string inversions_text(profile const& recorded, std::size_t most)
{
    if (recorded.inversions.empty())
        return "";
    std::string text = "\nLocks taken in both orders, which can end in a deadlock\n";
    output const end = std::back_inserter(text);
    for (inversion const& each : first_rows(recorded.inversions, most)) {
        fmt::format_to(end, "  inversion of {} and {}\n", each.first, each.second);
        put_side(end, recorded, each.first_then_second, each.first, each.second);
        put_side(end, recorded, each.second_then_first, each.second, each.first);
    }
    return text + more_text(recorded.inversions.size(), most);
}

} // namespace cleat::locks
