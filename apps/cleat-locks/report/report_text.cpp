#include "report/holders_text.hpp"
#include "report/off_cpu_text.hpp"
#include "report/quantities.hpp"
#include "report/report_text.hpp"
#include "report/rows.hpp"
#include "report/tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <string.h>
#include <sys/wait.h>

namespace cleat::locks {
namespace {

using output = std::back_insert_iterator<std::string>;

constexpr double shown_percent = 0.5; // Of a column: less gets no line.
constexpr std::size_t depth_max = 14;

std::string command_of(process_note const& process)
{
    constexpr std::size_t length_max = 76;
    return process.command.size() <= length_max ? process.command
                                                : process.command.substr(0, length_max - 3) + "...";
}

void put_shares(output text, profile const& recorded)
{
    fmt::format_to(
        text, "\n{:6.2f} %  of the threads' time was spent blocked on locks ({} of {}{})\n{}",
        recorded.blocked_percent(recorded.total),
        time_text(static_cast<double>(recorded.total.blocked_ns)),
        recorded.thread_ns_at_least ? "at least " : "",
        time_text(static_cast<double>(recorded.thread_ns)), off_cpu_heading(recorded));
    fmt::format_to(
        text,
        "{:6.2f} %  of CPU time was spent inside lock functions\n"
        "{:6.2f} %  of CPU time was spent on reference counts\n",
        recorded.lock_cpu_percent(recorded.total), recorded.reference_cpu_percent(recorded.total));
    if (recorded.cpu_hz == 0)
        fmt::format_to(
            text, "CPU time was not sampled: the last two are unknown (run without --no-cpu)\n");
    else if (recorded.total.cpu < 100)
        fmt::format_to(
            text, "CPU shares are rough: {} samples, and a hundred are few\n", recorded.total.cpu);
    if (std::string const said = lifetimes_text(recorded); !said.empty())
        fmt::format_to(text, "{}\n", said);
    for (process_note const& each : recorded.processes)
        if (each.lost > 0)
            fmt::format_to(text, "Process {}: {}\n", each.pid, lost_text(each));
}

std::string threads_of(lock const& l)
{
    return l.threads >= 64 ? "64+" : fmt::format("{}", l.threads);
}

void put_note(output text, std::string_view note)
{
    if (!note.empty())
        fmt::format_to(text, "{:>87}  {}\n", "", note);
}

// put_holds adds the facts about a lock's holds besides their mean.
void put_holds(output text, lock const& l)
{
    if (l.readers.acquisitions > 0)
        put_note(
            text, fmt::format(
                      "of these {} for reading, held {} on average, {} at the longest",
                      count_text(l.readers.acquisitions), time_text(l.readers.mean_hold_ns()),
                      time_text(static_cast<double>(l.readers.hold_max_ns))));
    if (timed_holds const& waited = l.exclusive.waited; waited.count > 0)
        put_note(
            text,
            fmt::format(
                "{} holds kept other threads waiting: these took {} on average",
                count_text(waited.count),
                time_text(static_cast<double>(waited.ns) / static_cast<double>(waited.count))));
    put_note(text, contradiction_text(l));
    if (l.threads > 1 && !l.group)
        put_note(text, interval_text(l.exclusive));
    put_note(text, interrupted_text(l.exclusive));
}

void put_failures(output text, lock const& l)
{
    if (l.failed == 0)
        return;
    std::vector<std::string> where;
    for (failed_tries const& each : l.failed_in)
        where.push_back(fmt::format("{} in {}", count_text(each.count), short_name(each.function)));
    put_note(
        text, fmt::format(
                  "{} more failed: tries, and waits that timed out; {}", count_text(l.failed),
                  fmt::join(where, ", ")));
}

void put_lock(output text, profile const& recorded, lock const& l)
{
    weights blocked;
    blocked.blocked_ns = l.is_lock() ? l.wait_ns : 0;
    bool const timed = l.exclusive.timed() > 0;
    fmt::format_to(
        text, "{:>6} {:>9} {:>9} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9}  {} {}",
        percent_text(recorded.blocked_percent(blocked)), time_text(static_cast<double>(l.wait_ns)),
        time_text(static_cast<double>(l.wait_max_ns)), threads_of(l), count_text(l.acquisitions()),
        count_text(l.shared), count_text(l.contended),
        timed ? time_text(l.exclusive.mean_hold_ns()) : "-",
        timed ? time_text(static_cast<double>(l.exclusive.hold_max_ns)) : "-", kind_name(l.kind),
        l.name);
    if (l.group)
        fmt::format_to(text, " ({} of them)", count_text(l.instances));
    if (recorded.processes.size() > 1)
        fmt::format_to(text, " [{}]", l.pid);
    fmt::format_to(text, "\n");
    put_holds(text, l);
    put_failures(text, l);
    if (!l.taken_by.empty()) {
        std::vector<std::string> names;
        for (std::string const& each : l.taken_by)
            names.push_back(short_name(each));
        put_note(text, fmt::format("taken in {}", fmt::join(names, " < ")));
    }
}

void put_locks(output text, profile const& recorded, std::size_t most, bool locks)
{
    std::vector<lock const*> rows;
    for (lock const& each : recorded.locks)
        if (each.is_lock() == locks && (locks || each.wait_ns > 0))
            rows.push_back(&each);
    if (rows.empty())
        return;
    fmt::format_to(
        text,
        "\n{}\n"
        "{:>6} {:>9} {:>9} {:>7} {:>8} {:>8} {:>8} {:>9} {:>9}\n",
        locks ? "Locks. Blocked: share of the threads' time, in all, and the longest"
              : "Conditions, semaphores, once, futexes of the program's own: mostly for work, and "
                "some for locks of its own",
        "%", locks ? "blocked" : "waited", "longest", "threads", "acquired", "shared", "waited",
        "held", "longest");
    for (lock const* each : first_rows(rows, most))
        put_lock(text, recorded, *each);
    fmt::format_to(text, "{}", more_text(rows.size(), most));
}

std::string columns(profile const& recorded, weights const& w)
{
    return fmt::format(
        "{:>8} {:>8} {:>8}", percent_text(recorded.blocked_percent(w)),
        percent_text(recorded.lock_cpu_percent(w)),
        percent_text(recorded.reference_cpu_percent(w)));
}

bool in_a_column(profile const& recorded, weights const& w)
{
    return std::max(
               {recorded.blocked_percent(w), recorded.lock_cpu_percent(w),
                recorded.reference_cpu_percent(w)}) >= shown_percent;
}

void put_stacks(output text, profile const& recorded, std::size_t most)
{
    std::vector<stack const*> rows;
    for (stack const& each : recorded.stacks)
        if (in_a_column(recorded, each.counts))
            rows.push_back(&each);
    auto const weight = [&](stack const* s) {
        return std::max(
            {recorded.blocked_percent(s->counts), recorded.lock_cpu_percent(s->counts),
             recorded.reference_cpu_percent(s->counts)});
    };
    std::ranges::stable_sort(rows, std::greater{}, weight);
    fmt::format_to(
        text, "\nCall stacks, the innermost function first\n{:>8} {:>8} {:>8}\n", "blocked",
        "lock CPU", "ref. CPU");
    if (rows.empty())
        fmt::format_to(text, "{:>26}  none reaches {} % of a column\n", "", shown_percent);
    for (stack const* each : first_rows(rows, most)) {
        bool first = true;
        std::size_t const depth = std::min(each->functions.size(), depth_max);
        for (std::uint32_t const function : std::span{each->functions}.first(depth)) {
            fmt::format_to(
                text, "{:>26}  {}{}\n", first ? columns(recorded, each->counts) : "",
                first ? "" : "  ", short_name(recorded.functions[function]));
            first = false;
        }
        if (each->functions.size() > depth)
            fmt::format_to(text, "{:>26}    ... {} more\n", "", each->functions.size() - depth);
    }
}

void put_level(
    output text, profile const& recorded, std::vector<tree_node> const& level, std::size_t depth,
    std::size_t most)
{
    if (depth >= depth_max)
        return;
    for (tree_node const& each : first_rows(level, most)) {
        fmt::format_to(
            text, "{}  {:{}}{}\n", columns(recorded, each.counts), "", 2 * depth,
            short_name(recorded.functions[each.function]));
        put_level(text, recorded, each.children, depth + 1, most);
    }
}

void put_tree(output text, profile const& recorded, std::size_t most)
{
    std::vector<tree_node> const roots = make_tree(recorded, direction::inverted, in_a_column);
    if (roots.empty())
        return;
    fmt::format_to(
        text, "\nThe inverted call tree: below each function its callers\n{:>8} {:>8} {:>8}\n",
        "blocked", "lock CPU", "ref. CPU");
    put_level(text, recorded, roots, 0, most);
}

void put_threads(output text, profile const& recorded, std::size_t most)
{
    fmt::format_to(
        text, "\nThreads\n{:>8} {:>9} {:>9} {:>9} {:>8}  {}\n", "blocked", "blocked", "CPU",
        "lived", "acquired", "thread");
    for (thread_share const& each : first_rows(recorded.threads, most)) {
        double const blocked = each.lived_ns > 0
                                   ? 100.0 * static_cast<double>(each.counts.blocked_ns) /
                                         static_cast<double>(each.lived_ns)
                                   : 0;
        fmt::format_to(
            text, "{:>6} % {:>9} {:>9} {:>9} {:>8}  {} ({})\n", fmt::format("{:.1f}", blocked),
            time_text(static_cast<double>(each.counts.blocked_ns)),
            time_text(static_cast<double>(each.cpu_ns)),
            time_text(static_cast<double>(each.lived_ns)), count_text(each.counts.acquisitions),
            each.name,
            (each.threads == 1 ? fmt::format("{}", each.tid)
                               : fmt::format("{} threads, one after the other", each.threads)) +
                (each.lived_at_least ? "; it lived at least so long" : ""));
    }
    fmt::format_to(text, "{}", more_text(recorded.threads.size(), most));
}

void put_unended_waits(output text, profile const& recorded, std::size_t most)
{
    std::vector<unended_wait const*> rows;
    for (unended_wait const& each : recorded.unended_waits)
        if (each.is_for_a_lock())
            rows.push_back(&each);
    if (rows.empty())
        return;
    fmt::format_to(
        text, "\nWaits that had not ended as the recording did\n{:>9} {:>8}  {:<15} {}\n", "so far",
        "thread", "name", "for");
    for (unended_wait const* each : first_rows(rows, most))
        fmt::format_to(
            text, "{:>9} {:>8}  {:<15} {} {}, in {}\n", time_text(static_cast<double>(each->ns)),
            each->tid, each->thread, kind_name(each->kind), each->lock, short_name(each->waits_in));
    fmt::format_to(text, "{}", more_text(rows.size(), most));
}

void put_unseen(output text, profile const& recorded)
{
    fmt::format_to(
        text, "\nNot seen as locks: those inside libc (malloc, stdio) and futexes without libc's "
              "syscall(): their waits are\noff the CPU above. Not seen: spinning on an atomic, and "
              "programs that are linked statically. An acquisition\nis shared when, by then, more "
              "than one thread had touched the lock; held is the mean of "
              "exclusive holds:\nof a sample, and of all that another thread waited for after the "
              "first such wait.\n");
    for (process_note const& each : recorded.processes)
        if (each.nested > 0)
            fmt::format_to(
                text,
                "Process {}: {} acquisitions by signal handlers that interrupted the recorder are "
                "in no figure.\n",
                each.pid, each.nested);
    if (!recorded.interruptions)
        fmt::format_to(
            text, "Which holds were interrupted is not known: where threads are more than cores, "
                  "held has time\nwithout a core in it.\n");
}

// program_of is the program's name without its folder and arguments.
std::string program_of(process_note const& process)
{
    std::string const program = process.command.substr(0, process.command.find(' '));
    return program.substr(program.rfind('/') + 1);
}

std::string without_locks_text(std::map<std::string, std::size_t> const& programs)
{
    std::size_t count = 0;
    std::vector<std::string> shown;
    for (auto const& [program, times] : programs) {
        count += times;
        shown.push_back(times == 1 ? program : fmt::format("{} {}", times, program));
    }
    constexpr std::size_t shown_max = 8;
    if (shown.size() > shown_max) {
        shown.resize(shown_max);
        shown.emplace_back("...");
    }
    return fmt::format(
        "and {} {} that took no lock: {}", count, count == 1 ? "process" : "processes",
        fmt::join(shown, ", "));
}

// unrecorded_text has a line for each program that was not recorded, with the reason.
std::string unrecorded_text(profile const& recorded)
{
    std::map<std::pair<std::string, std::string>, std::vector<int>> programs;
    for (unrecorded_process const& each : recorded.unrecorded)
        programs[{each.program, each.why}].push_back(each.pid);
    std::string text;
    for (auto const& [program, pids] : programs)
        fmt::format_to(
            std::back_inserter(text), "NOT RECORDED: {}, {}{}\n", program.first,
            pids.size() == 1 ? fmt::format("process {}", pids.front())
                             : fmt::format("{} processes", pids.size()),
            program.second.empty() ? "" : ": " + program.second);
    return text;
}

} // namespace

std::string end_text(profile const& recorded, process_note const& process)
{
    if (process.ended)
        return "";
    if (process.window)
        return "between two marks; the longest waits and holds are those until the second";
    std::size_t const index = static_cast<std::size_t>(&process - recorded.processes.data());
    for (process_note const& each : std::span{recorded.processes}.subspan(index + 1))
        if (each.pid == process.pid)
            return "then ran another program";
    if (process.runs)
        return "still runs";
    if (!process.wait_status)
        return "its end was not recorded";
    int const status = *process.wait_status;
    if (WIFSIGNALED(status))
        return fmt::format(
            "did not end by itself: signal {} ({})", WTERMSIG(status),
            ::strsignal(WTERMSIG(status)));
    return fmt::format("ended with exit code {}, without libc's exit", WEXITSTATUS(status));
}

std::string cut_short(process_note const& process)
{
    if (process.blocks_cut == 0)
        return {};
    return fmt::format(
        "the trace is cut short: {} of its {} thread records {} missing", process.blocks_cut,
        process.blocks, process.blocks_cut == 1 ? "is" : "are");
}

std::string lost_text(process_note const& process)
{
    if (process.lost == 0)
        return {};
    return fmt::format(
        "{} acquisitions, stacks or threads found no room, and are in no figure", process.lost);
}

std::string changed_text(profile const& recorded)
{
    constexpr std::size_t shown_max = 3;
    std::size_t const count = recorded.changed_files.size();
    if (count == 0)
        return {};
    return fmt::format(
        "names may be wrong: {}{} changed since that was recorded",
        fmt::join(std::span{recorded.changed_files}.first(std::min(count, shown_max)), ", "),
        count > shown_max ? fmt::format(" and {} files more have", count - shown_max)
        : count > 1       ? " have"
                          : " has");
}

std::string lifetimes_text(profile const& recorded)
{
    if (!recorded.thread_ns_at_least)
        return {};
    process_note const* one = nullptr;
    std::size_t count = 0;
    for (process_note const& each : recorded.processes)
        if (each.lived_at_least) {
            one = &each;
            ++count;
        }
    return fmt::format(
        "The end of {} is not known, only the last record: shares of the threads' time\n"
        "are at most so high",
        count == 1 ? fmt::format("process {}", one->pid) : fmt::format("{} processes", count));
}

std::string heading_text(profile const& recorded)
{
    std::string text;
    std::map<std::string, std::size_t> without_locks; // By program.
    for (process_note const& each : recorded.processes) {
        if (recorded.processes.size() > 1 && each.took_no_lock()) {
            ++without_locks[program_of(each)];
            continue;
        }
        std::string const end = end_text(recorded, each);
        fmt::format_to(
            std::back_inserter(text), "{}\n  process {}, {} threads, {}{}{}{}{}{}\n",
            command_of(each), each.pid, each.threads, each.lived_at_least ? "at least " : "",
            time_text(static_cast<double>(each.lived_ns)), end.empty() ? "" : ", ", end,
            each.no_map
                ? fmt::format("; {}.maps is missing, so its functions have no names", each.pid)
                : "",
            each.blocks_cut > 0 ? "; " + cut_short(each) : "");
    }
    if (!without_locks.empty())
        fmt::format_to(std::back_inserter(text), "{}\n", without_locks_text(without_locks));
    text += unrecorded_text(recorded);
    std::uint64_t const samples = recorded.total.cpu + recorded.samples_own;
    fmt::format_to(
        std::back_inserter(text), "  CPU {}", time_text(static_cast<double>(recorded.cpu_ns)));
    if (recorded.cpu_hz > 0)
        fmt::format_to(
            std::back_inserter(text), ", {} samples; the recorder's own {:.1f} %", samples,
            samples > 0
                ? 100.0 * static_cast<double>(recorded.samples_own) / static_cast<double>(samples)
                : 0.0);
    return text + "\n";
}

std::string report_text(profile const& recorded, std::size_t most)
{
    std::string text = heading_text(recorded);
    output const end = std::back_inserter(text);
    put_shares(end, recorded);
    fmt::format_to(end, "{}", deadlocks_text(recorded));
    put_locks(end, recorded, most, true);
    fmt::format_to(end, "{}{}", waits_for_text(recorded, most), inversions_text(recorded, most));
    put_locks(end, recorded, most, false);
    fmt::format_to(end, "{}", off_cpu_table(recorded, most));
    put_unended_waits(end, recorded, most);
    put_stacks(end, recorded, most);
    put_tree(end, recorded, most);
    put_threads(end, recorded, most);
    put_unseen(end, recorded);
    return text;
}

} // namespace cleat::locks
