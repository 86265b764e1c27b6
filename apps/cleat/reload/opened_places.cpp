#include "reload/opened_places.hpp"
#include "start/start.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace cleat::app {
namespace {

bool has_same_facility(config const& before, config const& settings)
{
    return settings.syslog_facility->code == before.syslog_facility->code;
}

bool has_same_log(config const& before, config const& settings)
{
    return *settings.log_filename == *before.log_filename && *settings.syslog == *before.syslog &&
           has_same_facility(before, settings);
}

// Another format needs no other access log.
bool has_same_access_log(config const& before, config const& settings)
{
    return *settings.access_log == *before.access_log &&
           (target_of_access_log(settings) != access_log_target::syslog ||
            has_same_facility(before, settings));
}

} // namespace

opened_places open_places(
    reload_request const& request, snapshot const& configuration, std::size_t workers,
    std::vector<problem>& problems)
{
    // Null where it fails: that is among the problems then.
    auto const attempted = [&](auto open) -> decltype(open()) {
        try {
            return open();
        } catch (start_error const& e) {
            problems.push_back(e.why);
        }
        return nullptr;
    };
    config const& settings = configuration.settings;
    config const& before = request.present->configuration->settings;
    opener const& root_files = request.start->root_files;
    opened_places made;
    if (has_same_log(before, settings))
        made.sink = request.present->sink;
    else
        made.sink = attempted([&] { return open_log(settings, std::nullopt, root_files); });
    made.sockets = bind_all(configuration, workers, request.places, root_files);
    std::ranges::move(made.sockets.problems, std::back_inserter(problems));
    if (*settings.admin != *before.admin)
        made.admin = attempted([&] { return open_admin(settings, root_files); });
    made.keeps_access_log = has_same_access_log(before, settings);
    if (!made.keeps_access_log)
        made.access_sink =
            attempted([&] { return open_access_sink(settings, std::nullopt, root_files); });
    return made;
}

} // namespace cleat::app
