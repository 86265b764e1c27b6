#include "core/failure.hpp"
#include "question.hpp"
#include "selection.hpp"
#include "store/file.hpp"
#include "synchronise.hpp"
#include "table.hpp"

#include <iostream>

namespace statsync {
namespace {

namespace fs = std::filesystem;

selection selected_for(registry const& all, options const& parsed)
{
    selection selected = select(all, parsed);
    if (selected.providers.size() < 2) {
        throw failure(
            problem::settings,
            "two providers are needed; `statsync detect` finds players, `statsync add` adds one");
    }
    return selected;
}

void say(std::string const& sentence)
{
    std::cout << printable(sentence) << std::endl; // Flushed: a step may take long.
}

int report(std::vector<outcome> const& outcomes, std::string const& verb)
{
    std::size_t failed = 0;
    for (outcome const& one : outcomes) {
        if (one.error.empty()) {
            std::cout << printable(one.provider) << ": " << counted(one.track_count, "track") << ' '
                      << verb << '\n';
        } else {
            std::cout << printable(one.provider) << ": " << printable(one.error) << '\n';
            ++failed;
        }
    }
    return failed == 0 ? exit_done : failed < outcomes.size() ? exit_partly : exit_failed;
}

/// baselines_of: what each provider remembers; empty where no run has asked for baselines.
std::vector<baseline> baselines_of(
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

/// planned: the plan, after the user has settled conflicts where this was asked for.
plan planned(options const& parsed, provider_list const& providers, plan_options const& how)
{
    plan made = make_plan(providers, how);
    if (parsed.conflicts == "ask" && made.unsettled_count() > 0) {
        if (!is_terminal()) {
            throw failure(
                problem::settings, "--conflicts ask needs a terminal; nothing is written");
        }
        merge_again(made, providers, how, ask_choices(made, providers));
    }
    return made;
}

/// is_allowed: whether the plan may be carried out.
bool is_allowed(options const& parsed)
{
    if (parsed.is_confirmed) {
        return true;
    }
    if (!is_terminal()) {
        std::cout << "nothing is written: this is no terminal to ask at; --yes writes\n";
        return false;
    }
    return is_agreed("Write this? [y/N] ");
}

/// carry_out returns an exit code.
int carry_out(
    plan const& made, selection const& selected, options const& parsed,
    std::vector<baseline> const& remembered_after)
{
    if (made.updated_count() > 0 && !is_allowed(parsed)) {
        return exit_failed;
    }
    std::vector<outcome> const outcomes =
        history(state_folder())
            .write(selected.providers, changes_of(made, selected.providers), remembered_after, say);
    return report(outcomes, "written");
}

} // namespace

fs::path state_folder()
{
    return expanded("$XDG_STATE_HOME/statsync");
}

int diff(registry const& all, options const& parsed)
{
    selection const selected = selected_for(all, parsed);
    plan const made = make_plan(selected.providers, plan_options_of(parsed, selected));
    print_matches(std::cout, made.matches, selected.providers, parsed.rows_max);
    return selected.is_complete ? exit_done : exit_failed;
}

int synchronise(registry const& all, options const& parsed)
{
    selection const selected = selected_for(all, parsed);
    std::vector<baseline> baselines =
        baselines_of(history(state_folder()).baselines(), selected.providers, parsed.uses_baseline);
    plan_options how = plan_options_of(parsed, selected);
    if (parsed.uses_baseline) {
        how.baselines = baselines;
    }
    plan const made = planned(parsed, selected.providers, how);
    print_plan(std::cout, made, selected.providers, parsed.rows_max);
    int const conflicts = made.unsettled_count() > 0 ? exit_conflicts : exit_done;
    if (conflicts != exit_done && parsed.conflicts == "fail") {
        std::cout << "nothing is written: there are conflicts (--conflicts fail)\n";
        return conflicts;
    }
    if (!parsed.is_dry_run) {
        std::vector<baseline> const after =
            baselines.empty()
                ? baselines
                : remember_run(made, selected.providers, how.merging, std::move(baselines));
        if (int const code = carry_out(made, selected, parsed, after); code != exit_done) {
            return code;
        }
    }
    return selected.is_complete ? conflicts : exit_failed;
}

int undo(registry const& all)
{
    return report(history(state_folder()).undo(all, say), "taken back");
}

} // namespace statsync
