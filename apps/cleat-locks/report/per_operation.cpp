#include "report/per_operation.hpp"
#include "report/quantities.hpp"
#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <tuple>

namespace cleat::locks {
namespace {

constexpr std::array cores_shown{1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::size_t bar_width = 40;

lock_price price_of(lock const& l, double operations, double cpu_ns, double line_ns)
{
    lock_price made;
    made.priced = &l;
    made.acquisitions = static_cast<double>(l.acquisitions()) / operations;
    made.shared = static_cast<double>(l.shared) / operations;
    made.contended = static_cast<double>(l.contended) / operations;
    made.wait_ns = static_cast<double>(l.wait_ns) / operations;
    hold_estimate const held = l.exclusive.mean_hold();
    double const holds = l.exclusive.holds() / operations;
    made.held_ns = holds * held.mean_ns;
    made.held_low_ns = holds * held.low_ns;
    made.held_high_ns = holds * held.high_ns;
    // A lock of one thread, or a group of such, keeps no other thread out.
    if (l.one_threads_own() || l.group)
        return made;
    made.line_ns = static_cast<double>(l.readers.acquisitions) / operations * line_ns;
    made.refused = contradiction_text(l);
    double const busy_ns = made.held_ns + made.line_ns;
    if (made.refused.empty() && busy_ns > 0) {
        made.operations_per_second_max = 1e9 / busy_ns;
        made.cores_max = cpu_ns / busy_ns;
    }
    return made;
}

// cores_text has a figure below 1, too: such a lock keeps even one core waiting.
std::string cores_text(double cores)
{
    return cores <= 0 ? "" : fmt::format("{:.{}f}", cores, cores < 0.95 ? 2 : 1);
}

// interval_of_cores says between which numbers of cores a lock saturates; empty: the estimate of
// its holds is good to a tenth.
std::string interval_of_cores(lock_price const& price, double cpu_ns)
{
    double const few = cpu_ns / (price.held_high_ns + price.line_ns);
    double const many = cpu_ns / (price.held_low_ns + price.line_ns);
    if (price.cores_max <= 0 || (many - few) <= 0.2 * price.cores_max)
        return "";
    return price.held_low_ns + price.line_ns > 0
               ? fmt::format("between {} and {} cores (95 %)", cores_text(few), cores_text(many))
               : fmt::format("from {} cores on (95 %)", cores_text(few));
}

void put_notes(std::string& text, lock_price const& price, double cpu_ns)
{
    auto const put = [&](std::string_view note) {
        if (!note.empty())
            fmt::format_to(std::back_inserter(text), "{:>75}  {}\n", "", note);
    };
    if (!price.refused.empty())
        put("no figure: " + price.refused);
    else
        put(interval_of_cores(price, cpu_ns));
    if (price.line_ns > 0)
        put(fmt::format(
            "readers move its cache line from core to core for {} of that",
            time_text(price.line_ns)));
    put(interrupted_text(price.priced->exclusive));
    if (price.priced->threads > 1 && !price.priced->group && price.priced->one_threads_own())
        put("one thread's own: others took it less than once in a hundred times");
}

void put_assumptions(std::string& text, operation_prices const& prices)
{
    auto const to = std::back_inserter(text);
    fmt::format_to(
        to,
        "\nThis is an estimate of where each lock saturates by itself. Assumed: an operation costs "
        "each core the\nCPU time that it cost here, and a lock is held as long as here. More cores "
        "make both longer (a lock's\ncache line travels). {}\n"
        "Readers of a read-write lock do not count as holding it{}.\n",
        prices.interruptions ? "Holds in which the thread lost its core are left out."
                             : "Which holds were interrupted is not known here: with more "
                               "threads\nthan cores, it saturates later.",
        prices.line_ns > 0 ? fmt::format(
                                 "; moving its cache line to the next core took {} here",
                                 time_text(prices.line_ns))
                           : ", and the cost of moving its cache line was not measured");
    if (std::ranges::any_of(prices.locks, [](lock_price const& p) { return !p.refused.empty(); }))
        fmt::format_to(to, "Locks without a figure may saturate before all others.\n");
}

double without_locks(operation_prices const& prices, double cores)
{
    return prices.cpu_ns > 0 ? cores * 1e9 / prices.cpu_ns : 0;
}

} // namespace

operation_prices per_operation(profile const& recorded, std::uint64_t operations)
{
    operation_prices made;
    made.operations = operations;
    made.interruptions = recorded.interruptions;
    made.line_ns = recorded.line_ns;
    double const count = static_cast<double>(operations);
    made.cpu_ns = static_cast<double>(recorded.cpu_ns) / count;
    for (lock const& each : recorded.locks) {
        if (!each.is_lock())
            continue;
        made.locks.push_back(price_of(each, count, made.cpu_ns, made.line_ns));
        made.acquisitions += made.locks.back().acquisitions;
        made.shared += made.locks.back().shared;
        made.wait_ns += made.locks.back().wait_ns;
    }
    std::ranges::stable_sort(made.locks, std::greater{}, [](lock_price const& p) {
        return std::tuple{
            !p.refused.empty(), p.cores_max > 0 ? p.held_ns + p.line_ns : 0.0, p.shared,
            p.acquisitions};
    });
    return made;
}

double throughput(operation_prices const& prices, double cores)
{
    double most = without_locks(prices, cores);
    for (lock_price const& each : prices.locks)
        if (each.operations_per_second_max > 0)
            most = std::min(most, each.operations_per_second_max);
    return most;
}

std::vector<throughput_point> throughput_by_cores(operation_prices const& prices)
{
    std::vector<throughput_point> made;
    for (int const cores : cores_shown)
        made.push_back({cores, throughput(prices, cores), without_locks(prices, cores)});
    return made;
}

std::string per_operation_text(operation_prices const& prices, std::size_t most)
{
    std::string text;
    auto const to = std::back_inserter(text);
    fmt::format_to(
        to,
        "{} operations; for each: CPU {}, {:.1f} acquisitions, {:.2f} of them of locks that "
        "threads share, blocked {}\n\n"
        "{:>9} {:>9} {:>9} {:>10} {:>10} {:>12} {:>9}\n",
        prices.operations, time_text(prices.cpu_ns), prices.acquisitions, prices.shared,
        time_text(prices.wait_ns), "acquired", "shared", "contended", "blocked", "held",
        "saturates at", "cores");
    for (lock_price const& each : first_rows(prices.locks, most)) {
        fmt::format_to(
            to, "{:>9.2f} {:>9.2f} {:>9.3f} {:>10} {:>10} {:>12} {:>9}  {} {}\n", each.acquisitions,
            each.shared, each.contended, time_text(each.wait_ns), time_text(each.held_ns),
            rate_text(each.operations_per_second_max), cores_text(each.cores_max),
            kind_name(each.priced->kind), each.priced->name);
        put_notes(text, each, prices.cpu_ns);
    }
    fmt::format_to(
        to, "{}\nOperations a second that these locks let through at most\n",
        more_text(prices.locks.size(), most));
    std::vector<throughput_point> const points = throughput_by_cores(prices);
    double const top = points.back().operations_per_second;
    for (auto const& [cores, rate, without] : points) {
        auto const width =
            top > 0 ? static_cast<std::size_t>(bar_width * std::min(1.0, rate / top) + 0.5) : 0;
        fmt::format_to(
            to, "{:>4} cores {:>10}  {}\n", cores, rate_text(rate), std::string(width, '#'));
    }
    put_assumptions(text, prices);
    return text;
}

} // namespace cleat::locks
