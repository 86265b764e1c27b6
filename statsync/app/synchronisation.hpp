// synchronisation: the providers, the rules and the memory of one run.

#pragma once

#include "selection.hpp"
#include "sync/history.hpp"

namespace statsync {

/// state_folder: runs and baselines are here.
std::filesystem::path state_folder();

/// select_several: throws failure(problem::settings) for less than two providers.
selection select_several(registry const& configured, options const& parsed);

/// say prints a sentence at once, since a step may take long.
void say(std::string const& sentence);

/// line_of: an outcome for the user. The verb is what has been done with the tracks.
std::string line_of(outcome const& one, std::string const& verb);

/// exit_code_of: the exit code of a run with these outcomes.
int exit_code_of(std::vector<outcome> const& outcomes);

/// synchronisation stays at its place: the rules refer to the baselines.
class synchronisation
{
public:
    synchronisation(registry const& configured, options const& parsed);
    synchronisation(synchronisation const&) = delete;
    synchronisation& operator=(synchronisation const&) = delete;

    provider_list const& providers() const { return selected_.providers; }
    plan_options const& rules() const { return rules_; }

    /// is_complete: whether all providers that were asked for take part.
    bool is_complete() const { return selected_.is_complete; }

    /// write carries the plan out, and stores what the providers remember.
    std::vector<outcome> write(plan const& made) const;

private:
    selection selected_;
    history history_;
    std::vector<baseline> baselines_; ///< Empty where no run has asked for baselines.
    plan_options rules_;
};

} // namespace statsync
