#include "report/off_cpu_text.hpp"
#include "report/report_json.hpp"
#include "report/report_text.hpp"

#include <boost/json/array.hpp>

#include <utility>
#include <vector>

namespace cleat::locks {
namespace {

namespace json = boost::json;

json::object part_json(weights const& w)
{
    return {
        {"blocked_ns", w.blocked_ns},
        {"waiting_ns", w.waiting_ns},
        {"acquisitions", w.acquisitions},
        {"contended", w.contended},
        {"cpu_samples", w.cpu},
        {"lock_cpu_samples", w.cpu_locks},
        {"reference_cpu_samples", w.cpu_references}};
}

json::object part_json(lock_use const& use)
{
    hold_estimate const held = use.mean_hold();
    json::object made{
        {"acquisitions", use.acquisitions},
        {"taken_again", use.retaken},
        {"holds", use.holds()},
        {"timed_holds", use.timed()},
        {"waited_holds", use.waited.count},
        {"waited_hold_ns", use.waited.ns},
        {"interrupted_holds", use.interrupted()},
        {"mean_hold_ns", held.mean_ns},
        {"mean_hold_low_ns", nullptr},
        {"mean_hold_high_ns", nullptr},
        {"max_hold_ns", use.hold_max_ns}};
    if (held.has_interval) {
        made["mean_hold_low_ns"] = held.low_ns;
        made["mean_hold_high_ns"] = held.high_ns;
    }
    return made;
}

json::array failures_json(lock const& l)
{
    json::array made;
    for (failed_tries const& each : l.failed_in)
        made.push_back(json::object{{"function", each.function}, {"count", each.count}});
    return made;
}

json::object part_json(lock const& l)
{
    return {
        {"name", l.name},
        {"kind", kind_name(l.kind)},
        {"group", l.group},
        {"pid", l.pid},
        {"instances", l.instances},
        {"threads", l.threads},
        {"acquisitions", l.acquisitions()},
        {"shared_acquisitions", l.shared},
        {"contended", l.contended},
        {"failed", l.failed},
        {"wait_ns", l.wait_ns},
        {"max_wait_ns", l.wait_max_ns},
        {"exclusive", part_json(l.exclusive)},
        {"readers", part_json(l.readers)},
        {"one_threads_own", l.one_threads_own()},
        {"hold_is_too_low", contradiction_text(l)},
        {"failed_in", failures_json(l)},
        {"taken_by", json::array(l.taken_by.begin(), l.taken_by.end())}};
}

json::array processes_json(profile const& recorded)
{
    json::array processes;
    for (process_note const& each : recorded.processes)
        processes.push_back(json::object{
            {"command", each.command},
            {"pid", each.pid},
            {"ended", each.ended},
            {"runs", each.runs},
            {"end", end_text(recorded, each)},
            {"lived_ns", each.lived_ns},
            {"lived_at_least", each.lived_at_least},
            {"threads", each.threads},
            {"lost", each.lost},
            {"nested", each.nested},
            {"blocks", each.blocks},
            {"blocks_cut", each.blocks_cut},
            {"acquisitions", each.acquisitions},
            {"took_no_lock", each.took_no_lock()},
            {"window", each.window},
            {"map_missing", each.no_map}});
    return processes;
}

json::object part_json(stack const& one)
{
    json::object made = part_json(one.counts);
    made["functions"] = json::array(one.functions.begin(), one.functions.end());
    return made;
}

json::object part_json(thread_share const& thread)
{
    json::object made = part_json(thread.counts);
    made["name"] = thread.name;
    made["pid"] = thread.pid;
    made["tid"] = thread.tid;
    made["threads"] = thread.threads;
    made["lived_ns"] = thread.lived_ns;
    made["lived_at_least"] = thread.lived_at_least;
    made["cpu_ns"] = thread.cpu_ns;
    return made;
}

json::object part_json(unrecorded_process const& process)
{
    return {{"pid", process.pid}, {"program", process.program}, {"why", process.why}};
}

json::object part_json(unended_wait const& wait)
{
    return {
        {"lock", wait.lock},
        {"kind", kind_name(wait.kind)},
        {"waits_in", wait.waits_in},
        {"thread", wait.thread},
        {"pid", wait.pid},
        {"tid", wait.tid},
        {"ns", wait.ns}};
}

json::object part_json(off_cpu_place const& place)
{
    return {{"thread", place.thread}, {"pid", place.pid},        {"tid", place.tid},
            {"in", place.call},       {"object", place.object},  {"function", place.function},
            {"ns", place.ns},         {"samples", place.samples}};
}

json::object part_json(taken_at const& place)
{
    return {
        {"thread", place.thread.name},
        {"tid", place.thread.tid},
        {"function", place.function},
        {"functions", json::array(place.stack.begin(), place.stack.end())}};
}

json::object part_json(holder_wait const& wait)
{
    return {
        {"lock", wait.lock},
        {"kind", kind_name(wait.kind)},
        {"pid", wait.pid},
        {"waiter", part_json(wait.waiter)},
        {"holder", part_json(wait.holder)},
        {"waits", wait.waits},
        {"ns", wait.ns},
        {"max_ns", wait.max_ns}};
}

json::object part_json(cycle_part const& part)
{
    return {
        {"lock", part.lock},
        {"ns", part.ns},
        {"waiter", part_json(part.waiter)},
        {"holder", part_json(part.holder)}};
}

json::object part_json(order_side const& side)
{
    return {{"had", part_json(side.had)}, {"asked", part_json(side.asked)}};
}

json::object part_json(inversion const& found)
{
    return {
        {"pid", found.pid},
        {"first", found.first},
        {"second", found.second},
        {"first_then_second", part_json(found.first_then_second)},
        {"second_then_first", part_json(found.second_then_first)}};
}

template <class T>
json::array each_json(std::vector<T> const& all)
{
    json::array made;
    for (T const& each : all)
        made.push_back(part_json(each));
    return made;
}

} // namespace

namespace {

json::array deadlocks_json(profile const& recorded)
{
    json::array made;
    for (deadlock const& each : recorded.deadlocks)
        made.push_back(json::object{{"pid", each.pid}, {"threads", each_json(each.parts)}});
    return made;
}

json::object off_cpu_json(profile const& recorded)
{
    off_cpu_parts const parts = recorded.off_cpu_time();
    json::object kinds;
    for (auto const& [kind, ns] : off_cpu_kinds(recorded))
        kinds[kind] = ns;
    return {
        {"ns", parts.ns},
        {"unexplained_ns", parts.unexplained_ns()},
        {"unrecorded_ns", parts.unrecorded_ns()},
        {"no_core_ns", parts.no_core_ns},
        {"own_futex_ns", parts.futex_ns},
        {"kinds_ns", std::move(kinds)},
        {"samples", recorded.off_cpu_samples},
        {"not_sampled", json::array(recorded.not_sampled.begin(), recorded.not_sampled.end())},
        {"places", each_json(recorded.off_cpu)}};
}

} // namespace

json::object to_json(profile const& recorded)
{
    return {
        {"cleat_locks", 1},
        {"processes", processes_json(recorded)},
        {"thread_ns", recorded.thread_ns},
        {"thread_ns_at_least", recorded.thread_ns_at_least},
        {"cpu_ns", recorded.cpu_ns},
        {"cpu_hz", recorded.cpu_hz},
        {"recorder_cpu_samples", recorded.samples_own},
        {"interruptions_known", recorded.interruptions},
        {"changed_files",
         json::array(recorded.changed_files.begin(), recorded.changed_files.end())},
        {"total", part_json(recorded.total)},
        {"blocked_percent", recorded.blocked_percent(recorded.total)},
        {"lock_cpu_percent", recorded.lock_cpu_percent(recorded.total)},
        {"reference_cpu_percent", recorded.reference_cpu_percent(recorded.total)},
        {"unrecorded", each_json(recorded.unrecorded)},
        {"deadlocks", deadlocks_json(recorded)},
        {"waits_for", each_json(recorded.waits_for)},
        {"waits_for_lost", recorded.waits_for_lost},
        {"inversions", each_json(recorded.inversions)},
        {"off_cpu", off_cpu_json(recorded)},
        {"functions", json::array(recorded.functions.begin(), recorded.functions.end())},
        {"locks", each_json(recorded.locks)},
        {"stacks", each_json(recorded.stacks)},
        {"threads", each_json(recorded.threads)},
        {"unended_waits", each_json(recorded.unended_waits)}};
}

json::object to_json(operation_prices const& prices)
{
    json::array locks;
    for (lock_price const& each : prices.locks)
        locks.push_back(json::object{
            {"name", each.priced->name},
            {"kind", kind_name(each.priced->kind)},
            {"threads", each.priced->threads},
            {"group", each.priced->group},
            {"one_threads_own", each.priced->one_threads_own()},
            {"acquisitions", each.acquisitions},
            {"shared_acquisitions", each.shared},
            {"contended", each.contended},
            {"wait_ns", each.wait_ns},
            {"held_ns", each.held_ns},
            {"held_low_ns", each.held_low_ns},
            {"held_high_ns", each.held_high_ns},
            {"line_ns", each.line_ns},
            {"refused", each.refused},
            {"timed_holds", each.priced->exclusive.timed()},
            {"interrupted_holds", each.priced->exclusive.interrupted()},
            {"operations_per_second_max", each.operations_per_second_max},
            {"cores_max", each.cores_max}});
    json::array points;
    for (throughput_point const& each : throughput_by_cores(prices))
        points.push_back(json::object{
            {"cores", each.cores},
            {"operations_per_second", each.operations_per_second},
            {"without_locks", each.without_locks}});
    return {
        {"cleat_locks", 1},
        {"operations", prices.operations},
        {"cpu_ns", prices.cpu_ns},
        {"interruptions_known", prices.interruptions},
        {"line_ns", prices.line_ns},
        {"acquisitions", prices.acquisitions},
        {"shared_acquisitions", prices.shared},
        {"wait_ns", prices.wait_ns},
        {"locks", std::move(locks)},
        {"throughput", std::move(points)}};
}

} // namespace cleat::locks
