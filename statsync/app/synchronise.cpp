#include "core/failure.hpp"
#include "question.hpp"
#include "synchronisation.hpp"
#include "synchronise.hpp"
#include "table.hpp"

#include <iostream>

namespace statsync {
namespace {

int report(std::vector<outcome> const& outcomes, std::string const& verb)
{
    for (outcome const& one : outcomes) {
        say(line_of(one, verb));
    }
    return exit_code_of(outcomes);
}

/// planned: the plan, after the user has settled conflicts where this was asked for.
plan planned(options const& parsed, synchronisation const& work)
{
    plan made = make_plan(work.providers(), work.rules());
    if (parsed.conflicts == "ask" && made.unsettled_count() > 0) {
        if (!is_terminal()) {
            throw failure(
                problem::settings, "--conflicts ask needs a terminal; nothing is written");
        }
        merge_again(made, work.providers(), work.rules(), ask_choices(made, work.providers()));
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

} // namespace

int diff(registry const& all, options const& parsed)
{
    selection const selected = select_several(all, parsed);
    plan const made = make_plan(selected.providers, plan_options_of(parsed, selected));
    print_matches(std::cout, made.matches, selected.providers, parsed.rows_max);
    return selected.is_complete ? exit_done : exit_failed;
}

int synchronise(registry const& all, options const& parsed)
{
    synchronisation const work(all, parsed);
    plan const made = planned(parsed, work);
    print_plan(std::cout, made, work.providers(), parsed.rows_max);
    int const conflicts = made.unsettled_count() > 0 ? exit_conflicts : exit_done;
    if (conflicts != exit_done && parsed.conflicts == "fail") {
        std::cout << "nothing is written: there are conflicts (--conflicts fail)\n";
        return conflicts;
    }
    if (!parsed.is_dry_run) {
        if (made.updated_count() > 0 && !is_allowed(parsed)) {
            return exit_failed;
        }
        if (int const code = report(work.write(made), "written"); code != exit_done) {
            return code;
        }
    }
    return work.is_complete() ? conflicts : exit_failed;
}

int undo(registry const& all)
{
    return report(history(state_folder()).undo(all, say), "taken back");
}

} // namespace statsync
