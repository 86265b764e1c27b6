#include "core/failure.hpp"
#include "selection.hpp"

#include <algorithm>
#include <iostream>

namespace statsync {
namespace {

std::size_t index_of(selection const& selected, std::string const& name)
{
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < selected.providers.size(); ++i) {
        provider const& one = *selected.providers[i];
        if (one.id() == name) {
            return i;
        }
        if (one.name() == name) {
            if (found) {
                throw failure(
                    problem::settings, "several providers are called '" + name + "'; give an id");
            }
            found = i;
        }
    }
    if (!found) {
        throw failure(problem::settings, "'" + printable(name) + "' takes no part");
    }
    return *found;
}

std::vector<instance> instances_of(registry const& configured, options const& parsed)
{
    std::vector<std::string> named = parsed.providers;
    if (!parsed.from.empty() && !parsed.to.empty()) {
        named.insert(named.end(), parsed.from.begin(), parsed.from.end());
        named.insert(named.end(), parsed.to.begin(), parsed.to.end());
    }
    if (named.empty()) {
        return configured.instances();
    }
    std::vector<instance> chosen;
    for (std::string const& name : named) {
        instance const& one = configured.find(name);
        if (std::find(chosen.begin(), chosen.end(), one) == chosen.end()) {
            chosen.push_back(one);
        }
    }
    return chosen;
}

} // namespace

selection select(registry const& configured, options const& parsed)
{
    selection selected;
    for (instance const& one : instances_of(configured, parsed)) {
        try {
            std::unique_ptr<provider> player = configured.open(one);
            player->tracks();
            selected.providers.push_back(std::move(player));
        } catch (failure const& error) {
            std::cerr << "statsync: " << one.name << ": " << printable(error.what())
                      << "; it takes no part\n";
            selected.is_complete = false;
        }
    }
    return selected;
}

plan_options plan_options_of(options const& parsed, selection const& selected)
{
    plan_options made;
    made.matching = {parsed.form, parsed.ignored};
    merge_options& merging = made.merging;
    merging.synced = parsed.synced;
    merging.excluded_labels = {parsed.excluded_labels.begin(), parsed.excluded_labels.end()};
    merging.exact_ratings = parsed.exact_ratings;
    merging.unrated_yields = parsed.unrated_yields;
    merging.ratings = parsed.ratings == "highest"  ? rating_policy::highest
                      : parsed.ratings == "lowest" ? rating_policy::lowest
                                                   : rating_policy::leave;
    merging.labels = parsed.labels == "unite" ? label_policy::unite : label_policy::leave;
    for (std::string const& name : parsed.prefer) {
        merging.preferred.push_back(index_of(selected, name));
    }
    std::set<std::size_t> written;
    for (std::string const& name : parsed.to) {
        written.insert(index_of(selected, name));
    }
    for (std::size_t i = 0; i < selected.providers.size() && !written.empty(); ++i) {
        if (!written.contains(i)) {
            made.read_only.insert(i);
        }
    }
    for (std::string const& name : parsed.from) {
        std::size_t const index = index_of(selected, name);
        if (written.contains(index)) {
            throw failure(problem::settings, "'" + name + "' is in --from and in --to");
        }
        made.read_only.insert(index);
    }
    return made;
}

} // namespace statsync
