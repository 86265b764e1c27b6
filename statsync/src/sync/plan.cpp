#include "sync/plan.hpp"

#include <algorithm>

namespace statsync {
namespace {

track const& track_at(provider_list const& providers, member const& one)
{
    return providers[one.provider]->tracks()[one.track];
}

fields writable_of(provider_list const& providers, std::size_t index, plan_options const& options)
{
    return options.read_only.contains(index) ? fields() : providers[index]->can().writable;
}

/// spellings_of asks databases that spell labels in their own way about all labels that they may
/// get.
std::vector<label_spelling> spellings_of(provider_list const& providers)
{
    std::vector<label_spelling> spellings(providers.size());
    auto const has_spelling = [](auto const& one) { return one->can().has_label_spelling; };
    if (std::ranges::none_of(providers, has_spelling)) {
        return spellings;
    }
    label_set labels;
    for (std::unique_ptr<provider> const& one : providers) {
        for (track const& each : one->tracks()) {
            labels.insert(each.statistics.labels.begin(), each.statistics.labels.end());
        }
    }
    for (std::size_t i = 0; i < providers.size(); ++i) {
        if (has_spelling(providers[i])) {
            spellings[i] = providers[i]->spelling_of(labels);
        }
    }
    return spellings;
}

merged_track merge_group(
    plan const& made, std::size_t place, provider_list const& providers,
    plan_options const& options, choice const& settled)
{
    std::vector<participant> participants;
    for (member const& one : made.matches.groups[place]) {
        track const& found = track_at(providers, one);
        participants.push_back(
            {one.provider, writable_of(providers, one.provider, options),
             providers[one.provider]->can().rating_step, found.statistics, found.recent_plays});
        participants.back().tolerance_s = providers[one.provider]->can().tolerance_s;
        if (!made.spellings[one.provider].empty()) {
            participants.back().spelling = &made.spellings[one.provider];
        }
        if (!options.baselines.empty()) {
            participants.back().last_run = options.baselines[one.provider].find(found.identity);
        }
    }
    return merge(participants, options.merging, settled);
}

} // namespace

std::size_t plan::unsettled_count() const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        merged, [](merged_track const& one) { return !one.unsettled.empty(); }));
}

std::size_t plan::updated_count() const
{
    return static_cast<std::size_t>(std::ranges::count_if(merged, [](merged_track const& one) {
        return std::ranges::any_of(one.updates, [](fields some) { return !some.empty(); });
    }));
}

plan make_plan(
    provider_list const& providers, plan_options const& options, choice_map const& choices)
{
    std::vector<match_source> sources;
    for (std::unique_ptr<provider> const& one : providers) {
        sources.push_back({one->can().reliable, one->tracks()});
    }
    plan made;
    made.matches = match(sources, options.matching);
    made.spellings = spellings_of(providers);
    merge_again(made, providers, options, choices);
    return made;
}

void merge_again(
    plan& made, provider_list const& providers, plan_options const& options,
    choice_map const& choices)
{
    made.merged.resize(made.matches.groups.size());
    for (std::size_t i = 0; i < made.matches.groups.size(); ++i) {
        merge_group_again(made, i, providers, options, choices);
    }
}

void merge_group_again(
    plan& made, std::size_t group, provider_list const& providers, plan_options const& options,
    choice_map const& choices)
{
    auto const found = choices.find(group);
    choice const settled = found == choices.end() ? choice{} : found->second;
    made.merged[group] = merge_group(made, group, providers, options, settled);
}

std::vector<baseline> remember_run(
    plan const& made, provider_list const& providers, merge_options const& options,
    std::vector<baseline> before)
{
    for (std::size_t i = 0; i < made.matches.groups.size(); ++i) {
        track_group const& group = made.matches.groups[i];
        for (std::size_t place = 0; place < group.size(); ++place) {
            baseline& state = before[group[place].provider];
            identity const& name = track_at(providers, group[place]).identity;
            state.set(name, remember(state.find(name), made.merged[i], place, options));
        }
    }
    return before;
}

std::vector<std::vector<change>> changes_of(plan const& made, provider_list const& providers)
{
    std::vector<std::vector<change>> changes(providers.size());
    for (std::size_t i = 0; i < made.matches.groups.size(); ++i) {
        track_group const& group = made.matches.groups[i];
        merged_track const& merged = made.merged[i];
        for (std::size_t place = 0; place < group.size(); ++place) {
            if (merged.updates[place].empty()) {
                continue;
            }
            track const& found = track_at(providers, group[place]);
            changes[group[place].provider].push_back(
                {found.key, merged.updates[place], found.statistics, merged.after[place]});
        }
    }
    return changes;
}

} // namespace statsync
