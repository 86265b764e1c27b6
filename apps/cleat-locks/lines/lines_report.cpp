#include "lines/lines_report.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace cleat::locks {
namespace {

using output = std::back_insert_iterator<std::string>;

constexpr std::size_t stack_shown = 5;

char const* memory_kind_name(memory_kind kind)
{
    switch (kind) {
    case memory_kind::heap:
        return "heap";
    case memory_kind::global:
        return "global";
    case memory_kind::thread:
        return "thread";
    case memory_kind::other:
        break;
    }
    return "other";
}

std::string memory_text(line_move const& move)
{
    return move.kind == memory_kind::heap ? fmt::format("heap, allocated in {}", move.memory)
                                          : move.memory;
}

std::string for_each_operation(std::uint64_t count, lines_view const& view)
{
    return view.operations ? fmt::format(
                                 ", {:.4f} for each operation",
                                 static_cast<double>(count) / static_cast<double>(*view.operations))
                           : std::string{};
}

void put_line_stack(
    output text, std::string_view title, line_moves const& found, std::uint32_t number)
{
    std::vector<std::uint32_t> const& stack = found.stacks[number];
    if (stack.empty())
        return;
    std::vector<std::string_view> shown;
    for (std::uint32_t const each : std::span{stack.data(), std::min(stack.size(), stack_shown)})
        shown.push_back(found.functions[each]);
    fmt::format_to(text, "      {} {}\n", title, fmt::join(shown, " < "));
}

void put_row(output text, line_moves const& found, line_move const& move, lines_view const& view)
{
    fmt::format_to(
        text, "\n  {} moves{}: {}\n", move.count(), for_each_operation(move.count(), view),
        memory_text(move));
    fmt::format_to(
        text, "      from {} to {}, {} by a read, {} by a write{}\n",
        found.threads[move.thread_before].name, found.threads[move.thread].name, move.reads,
        move.writes,
        move.other_bytes == 0
            ? std::string{}
            : fmt::format(", {} of other bytes (false sharing)", move.other_bytes));
    put_line_stack(text, "in         ", found, move.stack);
    put_line_stack(text, "written in ", found, move.stack_before);
}

void put_pairs(output text, line_moves const& found, lines_view const& view)
{
    using threads = std::pair<std::string, std::string>;
    std::map<threads, std::uint64_t> pairs;
    for (line_move const& each : found.moves)
        pairs[{found.threads[each.thread_before].name, found.threads[each.thread].name}] +=
            each.count();
    std::vector<std::pair<threads, std::uint64_t>> sorted(pairs.begin(), pairs.end());
    std::ranges::stable_sort(sorted, std::greater{}, [](auto const& each) { return each.second; });
    for (auto const& [between, count] : sorted)
        fmt::format_to(
            text, "  {:>10} from {} to {}{}\n", count, between.first, between.second,
            for_each_operation(count, view));
}

void put_remarks(output text, line_moves const& found)
{
    if (found.moves_lost != 0)
        fmt::format_to(
            text, "  {} moves are missing: the record has room for so many kinds\n",
            found.moves_lost);
    if (found.stacks_lost != 0)
        fmt::format_to(
            text, "  {} stacks are missing: rows without one may be several\n", found.stacks_lost);
    if (found.threads_lost != 0)
        fmt::format_to(text, "  the last {} threads are counted as one\n", found.threads_lost + 1);
    if (found.other_processes != 0)
        fmt::format_to(
            text, "  {} other processes of the program are not recorded\n", found.other_processes);
}

} // namespace

std::string lines_text(line_moves const& found, lines_view const& view)
{
    std::string text;
    output out{text};
    fmt::format_to(
        out, "{} cache lines moved between {} threads{}\n", found.count(), found.threads.size(),
        for_each_operation(found.count(), view));
    put_pairs(out, found, view);
    put_remarks(out, found);
    std::size_t const shown = std::min(found.moves.size(), view.most);
    for (line_move const& each : std::span{found.moves.data(), shown})
        put_row(out, found, each, view);
    if (shown < found.moves.size())
        fmt::format_to(out, "\n  {} more rows: --top shows them\n", found.moves.size() - shown);
    return text;
}

boost::json::object to_json(line_moves const& found, lines_view const& view)
{
    boost::json::array threads;
    for (line_thread const& each : found.threads)
        threads.push_back(boost::json::object{
            {"name", each.name}, {"tid", each.tid}, {"accesses", each.accesses}});
    boost::json::array moves;
    for (line_move const& each : found.moves)
        moves.push_back(boost::json::object{
            {"memory", each.memory},
            {"memory_kind", memory_kind_name(each.kind)},
            {"thread", each.thread},
            {"thread_before", each.thread_before},
            {"reads", each.reads},
            {"writes", each.writes},
            {"other_bytes", each.other_bytes},
            {"address", fmt::format("{:#x}", each.address)},
            {"stack", each.stack},
            {"stack_before", each.stack_before},
            {"allocated", each.allocated}});
    boost::json::array stacks;
    for (std::vector<std::uint32_t> const& each : found.stacks)
        stacks.push_back(boost::json::array(each.begin(), each.end()));
    boost::json::object made{
        {"moves", found.count()},
        {"threads", std::move(threads)},
        {"functions", boost::json::array(found.functions.begin(), found.functions.end())},
        {"stacks", std::move(stacks)},
        {"rows", std::move(moves)},
        {"moves_lost", found.moves_lost},
        {"stacks_lost", found.stacks_lost},
        {"threads_lost", found.threads_lost},
        {"other_processes", found.other_processes}};
    if (view.operations)
        made["operations"] = *view.operations;
    return made;
}

} // namespace cleat::locks
