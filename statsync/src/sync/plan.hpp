// plan: what a synchronisation would write, and why. Nothing is written here.

#pragma once

#include "core/match.hpp"
#include "core/merge.hpp"
#include "provider/provider.hpp"
#include "sync/baseline.hpp"

#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace statsync {

/// provider_list: the providers of a synchronisation. Everything else names them by their index.
using provider_list = std::vector<std::unique_ptr<provider>>;

struct plan_options
{
    match_options matching;
    merge_options merging;
    std::set<std::size_t> read_only; ///< Providers that are read and not written.
    /// A baseline for each provider; without them each run stands for itself.
    std::span<baseline const> baselines = {};
};

/// choice_map: choices of a user, by the index of the group.
using choice_map = std::map<std::size_t, choice>;

struct plan
{
    match_result matches;
    std::vector<label_spelling> spellings = {}; ///< For each provider.
    std::vector<merged_track> merged;           ///< For each of matches.groups.

    std::size_t unsettled_count() const;
    std::size_t updated_count() const; ///< Groups in which something is to be written.
};

/// make_plan reads all providers, matches their tracks and merges them.
plan make_plan(
    provider_list const& providers, plan_options const& options, choice_map const& choices = {});

/// merge_again applies other choices to the same matches.
void merge_again(
    plan& made, provider_list const& providers, plan_options const& options,
    choice_map const& choices);

/// merge_group_again: the same for one group.
void merge_group_again(
    plan& made, std::size_t group, provider_list const& providers, plan_options const& options,
    choice_map const& choices);

/// remember_run: what each provider remembers when the plan has been carried out.
std::vector<baseline> remember_run(
    plan const& made, provider_list const& providers, merge_options const& options,
    std::vector<baseline> before);

/// changes_of: what is to be written, for each provider.
std::vector<std::vector<change>> changes_of(plan const& made, provider_list const& providers);

} // namespace statsync
