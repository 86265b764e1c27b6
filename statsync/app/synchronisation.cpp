#include "core/failure.hpp"
#include "store/file.hpp"
#include "synchronisation.hpp"
#include "table.hpp"

#include <algorithm>
#include <iostream>

namespace statsync {
namespace {

std::vector<baseline> load_all(
    baseline_folder const& folder, provider_list const& providers, bool is_wanted)
{
    std::vector<baseline> loaded;
    if (is_wanted || folder.exists()) {
        for (std::unique_ptr<provider> const& one : providers) {
            loaded.push_back(folder.load(one->id()));
        }
    }
    return loaded;
}

} // namespace

std::filesystem::path state_folder()
{
    return expanded("$XDG_STATE_HOME/statsync");
}

selection select_several(registry const& configured, options const& parsed)
{
    selection selected = select(configured, parsed);
    if (selected.providers.size() < 2) {
        throw failure(
            problem::settings,
            "two providers are needed; `statsync detect` finds players, `statsync add` adds one");
    }
    return selected;
}

void say(std::string const& sentence)
{
    std::cout << printable(sentence) << std::endl;
}

std::string line_of(outcome const& one, std::string const& verb)
{
    return one.provider + ": " +
           (one.error.empty() ? counted(one.track_count, "track") + " " + verb : one.error);
}

int exit_code_of(std::vector<outcome> const& outcomes)
{
    std::size_t const failed = static_cast<std::size_t>(
        std::ranges::count_if(outcomes, [](outcome const& one) { return !one.error.empty(); }));
    return failed == 0 ? exit_done : failed < outcomes.size() ? exit_partly : exit_failed;
}

synchronisation::synchronisation(registry const& configured, options const& parsed)
    : selected_(select_several(configured, parsed))
    , history_(state_folder())
    , baselines_(load_all(history_.baselines(), selected_.providers, parsed.uses_baseline))
    , rules_(plan_options_of(parsed, selected_))
{
    if (parsed.uses_baseline) {
        rules_.baselines = baselines_;
    }
}

std::vector<outcome> synchronisation::write(plan const& made) const
{
    std::vector<baseline> after = baselines_;
    if (!after.empty()) {
        after = remember_run(made, providers(), rules_.merging, std::move(after));
    }
    return history_.write(providers(), changes_of(made, providers()), after, say);
}

} // namespace statsync
