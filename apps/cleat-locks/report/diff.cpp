#include "report/diff.hpp"
#include "report/quantities.hpp"
#include "report/report_text.hpp"
#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::locks {
namespace {

// A value before and after.
struct change
{
    std::string name;
    double before = 0;
    double after = 0;
    [[nodiscard]] double size() const { return std::abs(after - before); }
};

using by_name = std::map<std::string, std::pair<double, double>>;

std::vector<change> sorted(by_name const& values)
{
    std::vector<change> made;
    for (auto const& [name, both] : values)
        made.push_back({name, both.first, both.second});
    std::ranges::stable_sort(made, std::greater{}, &change::size);
    return made;
}

// lasting_name is the same in every run: an address differs, the place where a lock was made does
// not.
std::string lasting_name(lock const& l)
{
    std::size_t const comma = l.name.find(", made in ");
    std::string const name =
        l.name.starts_with("0x") && comma != std::string::npos ? l.name.substr(comma + 2) : l.name;
    return fmt::format("{} {}", kind_name(l.kind), name.starts_with("0x") ? "on the heap" : name);
}

void add_locks(by_name& values, profile const& recorded, double std::pair<double, double>::*side)
{
    for (lock const& each : recorded.locks)
        if (each.is_lock()) {
            weights one;
            one.blocked_ns = each.wait_ns;
            values[lasting_name(each)].*side += recorded.blocked_percent(one);
        }
}

// The address of code that is in no known file or mapping differs too.
std::string lasting_name(std::string_view function)
{
    return function.starts_with("0x") ? "(code without a name)" : short_name(function);
}

// A function's own share is that of the stacks in which it is innermost.
template <class Share>
void add_functions(
    by_name& values, profile const& recorded, double std::pair<double, double>::*side, Share share)
{
    for (stack const& each : recorded.stacks)
        values[lasting_name(recorded.functions[each.functions.front()])].*side +=
            share(recorded, each.counts);
}

void put(std::string& text, std::string_view title, by_name const& values, std::size_t most)
{
    auto const to = std::back_inserter(text);
    fmt::format_to(to, "\n{}\n{:>9} {:>9} {:>9}\n", title, "before", "after", "points");
    std::vector<change> rows = sorted(values);
    std::erase_if(rows, [](change const& c) { return c.size() < 0.05; });
    if (rows.empty())
        fmt::format_to(to, "{:>29}  nothing changed by a twentieth of a point\n", "");
    for (change const& each : first_rows(rows, most))
        fmt::format_to(
            to, "{:>7.1f} % {:>7.1f} % {:>+7.1f}    {}\n", each.before, each.after,
            each.after - each.before, each.name);
}

// Mean holds by lock; of several locks with one name their mean.
struct held_by_name
{
    double holds = 0;
    double ns = 0;
    [[nodiscard]] double mean() const { return holds > 0 ? ns / holds : 0; }
};

using holds_by_name = std::map<std::string, std::pair<held_by_name, held_by_name>>;

void add_holds(
    holds_by_name& values, profile const& recorded,
    held_by_name std::pair<held_by_name, held_by_name>::*side)
{
    for (lock const& each : recorded.locks)
        if (each.is_lock() && each.exclusive.timed() > 0) {
            held_by_name& sum = values[lasting_name(each)].*side;
            sum.holds += each.exclusive.holds();
            sum.ns += each.exclusive.held_ns();
        }
}

// put_mean_holds lists the locks whose time held in all differs most.
void put_mean_holds(std::string& text, holds_by_name const& values, std::size_t most)
{
    using row = holds_by_name::value_type;
    std::vector<row const*> rows;
    for (row const& each : values)
        rows.push_back(&each);
    std::ranges::stable_sort(rows, std::greater{}, [](row const* each) {
        return std::abs(each->second.first.ns - each->second.second.ns);
    });
    auto const to = std::back_inserter(text);
    fmt::format_to(
        to, "\nLocks: held on average, and how often\n{:>9} {:>9} {:>9} {:>9}\n", "before", "after",
        "before", "after");
    auto const times = [](held_by_name const& held) {
        return count_text(static_cast<std::uint64_t>(std::llround(held.holds)));
    };
    for (row const* each : first_rows(rows, most)) {
        auto const& [before, after] = each->second;
        fmt::format_to(
            to, "{:>9} {:>9} {:>9} {:>9}  {}\n", time_text(before.mean()), time_text(after.mean()),
            times(before), times(after), each->first);
    }
}

} // namespace

std::string diff_text(profile const& before, profile const& after, std::size_t most)
{
    using sides = std::pair<double, double>;
    by_name totals;
    totals["blocked on locks, of the threads' time"] = {
        before.blocked_percent(before.total), after.blocked_percent(after.total)};
    totals["CPU inside lock functions"] = {
        before.lock_cpu_percent(before.total), after.lock_cpu_percent(after.total)};
    totals["CPU on reference counts"] = {
        before.reference_cpu_percent(before.total), after.reference_cpu_percent(after.total)};
    by_name locks;
    add_locks(locks, before, &sides::first);
    add_locks(locks, after, &sides::second);
    auto const cpu = [](profile const& recorded, weights const& w) {
        return recorded.total.cpu > 0
                   ? 100.0 * static_cast<double>(w.cpu) / static_cast<double>(recorded.total.cpu)
                   : 0.0;
    };
    by_name functions;
    add_functions(functions, before, &sides::first, cpu);
    add_functions(functions, after, &sides::second, cpu);

    std::string text = fmt::format(
        "before: {}after:  {}", before.processes.front().command + "\n",
        after.processes.front().command + "\n");
    for (auto const& [side, recorded] : {std::pair{"before", &before}, std::pair{"after", &after}})
        if (std::string const said = lifetimes_text(*recorded); !said.empty())
            text += fmt::format("{}: {}\n", side, said);
    put(text, "In all", totals, most);
    put(text, "Locks: share of the threads' time blocked", locks, most);
    holds_by_name holds;
    add_holds(holds, before, &std::pair<held_by_name, held_by_name>::first);
    add_holds(holds, after, &std::pair<held_by_name, held_by_name>::second);
    if (!holds.empty())
        put_mean_holds(text, holds, most);
    put(text, "Functions: share of CPU samples, their own", functions, most);
    return text;
}

} // namespace cleat::locks
