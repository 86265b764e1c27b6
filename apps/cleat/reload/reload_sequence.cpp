#include "config/problem_report.hpp"
#include "reload/reload_sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace cleat::app {
namespace {

// Of each grade. A folder of broken files would fill the log.
constexpr std::size_t lines_max = 20;

constexpr char const* no_memory_for_it = "there is no memory for it";

// Returns how many there are.
std::size_t log_grade(
    logger const& log, log_level level, std::vector<problem> const& all, problem::severity grade)
{
    bool const is_error = grade == problem::severity::error;
    std::vector<problem> wanted;
    std::ranges::copy_if(
        all, std::back_inserter(wanted), [&](problem const& each) { return each.grade == grade; });
    problem_report_limits const limits{.errors = lines_max, .warnings = lines_max};
    for (std::string const& line : problem_report(wanted, limits))
        log.line(level, is_error ? "reload-problem" : "reload-warning").add("problem", line);
    return wanted.size();
}

// A refusal that another reload will follow by itself is no error.
void log_refusal(logger const& log, std::vector<problem> const& problems, bool is_final)
{
    log_level const level = is_final ? log_level::error : log_level::info;
    std::size_t const errors = log_grade(log, level, problems, problem::severity::error);
    std::size_t const warnings =
        log_grade(log, is_final ? log_level::warning : level, problems, problem::severity::warning);
    log_line line = log.line(level, is_final ? "reload-refused" : "reload-waits");
    line.add("problems", errors);
    if (warnings != 0)
        line.add("warnings", warnings);
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
        built_ = builder_.take();
    if (built_)
        take();
    if (replacing_ && workers_.is_replaced()) {
        replacing_ = false;
        is_ending_ = true;
        outcome_.took = std::chrono::ceil<std::chrono::milliseconds>(clock::now() - begun_);
    }
    if (is_ending_) // Before another one.
        end();
    if (requested_ && !is_busy()) {
        begin();
        requested_ = false;
    }
    if (is_ending_)
        end();
}

void reload_sequence::stop()
{
    stopped_ = true;
}

void reload_sequence::begin()
{
    log().info("reloading");
    is_final_ = request_is_final_;
    begun_ = clock::now();
    try {
        file_changes changed = observer_.begun();
        if (stopped_)
            return refuse("cleat is ending");
        builder_.begin(
            {&start_, &workers_.present(), workers_.places(), std::move(changed),
             workers_.upstreams().targets()});
    } catch (std::bad_alloc const&) {
        refuse(no_memory_for_it);
    } catch (std::system_error const& e) {
        refuse(e.what());
    }
}

void reload_sequence::take()
{
    if (stopped_)
        return refuse("cleat is ending");
    if (!built_->next)
        return built_->problems.empty()
                   ? refuse(no_memory_for_it)
                   : refuse(std::move(built_->problems), std::move(built_->watched));
    try {
        workers_.replace(std::move(*built_->next));
    } catch (std::bad_alloc const&) {
        return refuse(no_memory_for_it);
    }
    outcome_ = {true, true, in_order(std::move(built_->problems)), std::move(built_->changes)};
    built_.reset();
    replacing_ = true;
}

void reload_sequence::refuse(
    std::vector<problem> problems, std::shared_ptr<watch_plan const> watched)
{
    outcome_ = {
        .done = false,
        .is_final = is_final_,
        .problems = in_order(std::move(problems)),
        .watched = std::move(watched)};
    built_.reset();
    is_ending_ = true;
}

void reload_sequence::refuse(std::string why)
{
    refuse({{problem::severity::error, {}, {}, std::move(why), {}}});
}

// Where memory is short, it is called again.
void reload_sequence::end()
{
    if (!is_logged_ && outcome_.done) {
        for (listening_place const& each : workers_.places())
            if (!each.kept)
                log().info("listening").add("address", net::to_string(each.address));
        log_success(log(), outcome_);
    } else if (!is_logged_) {
        log_refusal(log(), outcome_.problems, outcome_.is_final);
    }
    is_logged_ = true;
    observer_.ended(outcome_);
    outcome_ = {};
    is_logged_ = is_ending_ = false;
}

} // namespace cleat::app
