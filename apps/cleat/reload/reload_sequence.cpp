#include "reload/reload_sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace cleat::app {
namespace {

// A folder of broken files would fill the log.
constexpr std::size_t lines_max = 20;

void log_refusal(logger const& log, std::vector<problem> const& problems, bool is_final)
{
    log_level const level = is_final ? log_level::error : log_level::info;
    for (problem const& each : std::span{problems}.first(std::min(problems.size(), lines_max)))
        log.line(level, "reload-problem").add("problem", to_string(each));
    if (problems.size() > lines_max)
        log.line(level, "reload-problem").add("more_problems", problems.size() - lines_max);
    log.line(level, is_final ? "reload-refused" : "reload-waits").add("problems", problems.size());
}

void log_success(logger const& log, reload_outcome const& outcome)
{
    for (problem const& each : outcome.problems)
        log.warning("reload-warning").add("problem", to_string(each));
    configuration_changes const& changes = outcome.changes;
    log.info("reloaded")
        .add("took_ms", outcome.took.count())
        .add("keys", fmt::format("{}", fmt::join(changes.keys, ",")))
        .add("frontends_added", changes.frontends_added)
        .add("frontends_removed", changes.frontends_removed)
        .add("certificates_added", changes.certificates_added)
        .add("certificates_removed", changes.certificates_removed)
        .add("certificates_changed", changes.certificates_changed)
        .add("certificates_skipped", changes.certificates_skipped);
}

} // namespace

reload_sequence::reload_sequence(worker_group& workers, start_facts const& start, observer watcher)
    : workers_{workers}, start_{start}, observer_{std::move(watcher)}, builder_{workers}
{
}

void reload_sequence::request(bool is_final)
{
    request_is_final_ = is_final || (requested_ && request_is_final_);
    requested_ = true;
    go_on();
}

void reload_sequence::go_on()
{
    if (builder_.is_busy() && builder_.is_built())
        take();
    if (replacing_ && workers_.is_replaced())
        succeed();
    if (requested_ && !is_busy())
        begin();
}

void reload_sequence::stop()
{
    stopped_ = true;
}

void reload_sequence::begin()
{
    requested_ = false;
    is_final_ = request_is_final_;
    begun_ = clock::now();
    log().info("reloading");
    file_changes changed = observer_.begun();
    if (stopped_)
        return refuse("cleat is ending");
    try {
        builder_.begin({&start_, &workers_.present(), workers_.places(), std::move(changed)});
    } catch (std::system_error const& e) {
        refuse(e.what());
    }
}

void reload_sequence::take()
{
    candidate built = builder_.take();
    if (stopped_)
        return refuse("cleat is ending");
    if (!built.next)
        return built.problems.empty() ? refuse("there is no memory for it")
                                      : refuse(std::move(built.problems), std::move(built.watched));
    outcome_ = {true, true, std::move(built.problems), std::move(built.changes)};
    replacing_ = true;
    workers_.replace(std::move(*built.next));
}

void reload_sequence::refuse(
    std::vector<problem> problems, std::shared_ptr<watch_plan const> watched)
{
    log_refusal(log(), problems, is_final_);
    observer_.ended(
        {.done = false,
         .is_final = is_final_,
         .problems = std::move(problems),
         .watched = std::move(watched)});
}

void reload_sequence::refuse(std::string why)
{
    refuse({{problem::severity::error, {}, {}, std::move(why), {}}});
}

void reload_sequence::succeed()
{
    replacing_ = false;
    outcome_.took = std::chrono::ceil<std::chrono::milliseconds>(clock::now() - begun_);
    for (listening_place const& each : workers_.places())
        if (!each.kept)
            log().info("listening").add("address", net::to_string(each.address));
    log_success(log(), outcome_);
    observer_.ended(std::exchange(outcome_, {}));
}

} // namespace cleat::app
