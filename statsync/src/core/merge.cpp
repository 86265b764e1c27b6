#include "core/merge.hpp"
#include "core/spelling.hpp"

#include <algorithm>
#include <iterator>

namespace statsync {
namespace {

using participants_view = std::span<participant const>;

label_set without(label_set const& labels, label_set const& excluded)
{
    label_set kept;
    std::ranges::set_difference(labels, excluded, std::inserter(kept, kept.end()));
    return kept;
}

participant const* taking_part(participants_view participants, std::size_t provider)
{
    auto const found = std::ranges::find(participants, provider, &participant::provider);
    return found == participants.end() ? nullptr : &*found;
}

participant const* preferred(participants_view participants, merge_options const& options)
{
    for (std::size_t provider : options.preferred) {
        if (participant const* one = taking_part(participants, provider)) {
            return one;
        }
    }
    return nullptr;
}

/// merge_plays: plays since the last run add up. A count that no run has seen may contain the same
/// plays as another one, so that the higher one is right.
std::int64_t merge_plays(participants_view participants)
{
    std::int64_t highest = 0;
    std::int64_t added = 0;
    for (participant const& one : participants) {
        std::int64_t const plays = one.values.play_count;
        if (one.last_run.known.has(field::play_count)) {
            std::int64_t const own = one.last_run.own.play_count;
            highest = std::max({highest, one.last_run.agreed.play_count, own});
            added += std::max<std::int64_t>(plays - own, 0);
        }
    }
    std::int64_t count = highest + added;
    std::int64_t recent = 0;
    for (participant const& one : participants) {
        if (!one.last_run.known.has(field::play_count)) {
            count = std::max(count, one.values.play_count - one.recent_plays);
            recent += one.recent_plays;
        }
    }
    return count + recent;
}

/// latest_play: the latest date, of exact participants before those whose dates may be off.
time_stamp latest_play(participants_view participants)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> dates;
    for (participant const& one : participants) {
        if (one.values.last_played) {
            dates.emplace_back(one.tolerance_s, -*one.values.last_played);
        }
    }
    std::ranges::sort(dates);
    time_stamp latest;
    for (auto const& [tolerance_s, negated] : dates) {
        if (!latest || -negated > *latest + tolerance_s) {
            latest = -negated;
        }
    }
    return latest;
}

bool is_near(time_stamp one, time_stamp other, std::int64_t tolerance_s)
{
    return one && other && std::max(*one, *other) - std::min(*one, *other) <= tolerance_s;
}

void merge_dates(participants_view participants, statistics& values)
{
    values.last_played = latest_play(participants);
    for (participant const& one : participants) {
        time_stamp const first = one.values.first_played;
        if (first && (!values.first_played || *first < *values.first_played)) {
            values.first_played = first;
        }
    }
}

/// same_run: whether these participants know a field from an earlier run, and agreed on it.
bool same_run(std::vector<participant const*> const& voters, field one)
{
    return std::ranges::all_of(voters, [&](participant const* voter) {
        fields const differing =
            differences(voter->last_run.agreed, voters.front()->last_run.agreed);
        return voter->last_run.known.has(one) && !differing.has(one);
    });
}

/// rating_voters: participants whose rating counts, those with half stars before those without.
std::vector<participant const*> rating_voters(participants_view participants, bool unrated_yields)
{
    bool const any_rated =
        std::ranges::any_of(participants, [](participant const& p) { return p.values.rating > 0; });
    std::vector<participant const*> voters;
    for (participant const& one : participants) {
        bool const yields = unrated_yields && any_rated;
        if (one.values.rating > 0 || (one.writable.has(field::rating) && !yields)) {
            voters.push_back(&one);
        }
    }
    std::ranges::stable_sort(voters, {}, &participant::rating_step);
    return voters;
}

int step_of(participant const& one, merge_options const& options)
{
    return options.exact_ratings ? 1 : one.rating_step;
}

std::optional<int> agreed_rating(
    std::vector<participant const*> const& voters, merge_options const& options)
{
    if (voters.empty()) {
        return 0;
    }
    for (participant const* candidate : voters) {
        int const rating = candidate->values.rating;
        bool const all_agree = std::ranges::all_of(voters, [&](participant const* voter) {
            int const step = step_of(*voter, options);
            return rating_after(rating, step) == rating_after(voter->values.rating, step);
        });
        if (all_agree) {
            return rating;
        }
    }
    return std::nullopt;
}

/// newer_rating: the rating to which it was changed since the last run, or the last run's. Nothing
/// if there is no last run, or two changes that differ.
std::optional<int> newer_rating(participants_view participants, merge_options const& options)
{
    // A removed rating is a change like another one: an unrated track does not yield here.
    std::vector<participant const*> voters = rating_voters(participants, false);
    if (voters.empty() || !same_run(voters, field::rating)) {
        return std::nullopt;
    }
    int const last = voters.front()->last_run.agreed.rating;
    std::erase_if(voters, [](participant const* voter) {
        return voter->values.rating == voter->last_run.own.rating;
    });
    return voters.empty() ? last : agreed_rating(voters, options);
}

/// finest_rating: the rating of a voter with half stars that this voter rounded up, or else its
/// own. Without it a second run would take the rounded rating for another one.
int finest_rating(
    participant const& voter, std::vector<participant const*> const& voters,
    merge_options const& options)
{
    int const step = step_of(voter, options);
    int finest = 0;
    for (participant const* finer : voters) {
        int const rating = finer->values.rating;
        if (step_of(*finer, options) < step && rating_after(rating, step) == voter.values.rating) {
            finest = std::max(finest, rating);
        }
    }
    return finest > 0 ? finest : voter.values.rating;
}

std::optional<int> policy_rating(
    std::vector<participant const*> const& voters, merge_options const& options)
{
    if (options.ratings == rating_policy::leave) {
        return std::nullopt;
    }
    // An unrated track has no rating that could be the lowest one.
    std::vector<int> ratings;
    for (participant const* voter : voters) {
        if (voter->values.rating > 0) {
            ratings.push_back(finest_rating(*voter, voters, options));
        }
    }
    auto const [lowest, highest] = std::ranges::minmax(ratings);
    return options.ratings == rating_policy::highest ? highest : lowest;
}

/// preferred_rating: the rating of the first preferred provider whose rating counts.
std::optional<int> preferred_rating(
    std::vector<participant const*> const& voters, merge_options const& options)
{
    for (std::size_t provider : options.preferred) {
        auto const found = std::ranges::find(voters, provider, &participant::provider);
        if (found != voters.end()) {
            return finest_rating(**found, voters, options);
        }
    }
    return std::nullopt;
}

void merge_ratings(
    participants_view participants, merge_options const& options, choice const& settled,
    merged_track& merged)
{
    std::vector<participant const*> const voters =
        rating_voters(participants, options.unrated_yields);
    std::optional<int> rating = newer_rating(participants, options);
    if (!rating) {
        rating = agreed_rating(voters, options);
    }
    if (!rating) {
        merged.in_conflict |= field::rating;
    }
    if (participant const* chosen =
            settled.rating_from ? taking_part(participants, *settled.rating_from) : nullptr) {
        rating = chosen->values.rating;
    } else if (!rating) {
        std::optional<int> const winner = preferred_rating(voters, options);
        rating = winner ? winner : policy_rating(voters, options);
    }
    if (!rating) {
        merged.unsettled |= field::rating;
    }
    merged.values.rating = rating.value_or(0);
}

std::optional<label_set> agreed_labels(
    participants_view participants, label_set const& excluded, label_set& all)
{
    std::optional<label_set> agreed;
    bool all_agree = true;
    for (participant const& one : participants) {
        label_set const labels = without(one.values.labels, excluded);
        all.insert(labels.begin(), labels.end());
        if (labels.empty() && !one.writable.has(field::labels)) {
            continue;
        }
        all_agree = all_agree && (!agreed || *agreed == labels);
        agreed = labels;
    }
    if (!all_agree) {
        return std::nullopt;
    }
    return agreed.value_or(label_set{});
}

/// newer_labels: the labels of the last run with what was added and removed since. Nothing if there
/// is no last run.
std::optional<label_set> newer_labels(participants_view participants, label_set const& excluded)
{
    std::vector<participant const*> voters;
    for (participant const& one : participants) {
        if (!without(one.values.labels, excluded).empty() || one.writable.has(field::labels)) {
            voters.push_back(&one);
        }
    }
    if (voters.empty() || !same_run(voters, field::labels)) {
        return std::nullopt;
    }
    label_set labels = without(voters.front()->last_run.agreed.labels, excluded);
    for (participant const* voter : voters) {
        labels = without(labels, without(voter->last_run.own.labels, voter->values.labels));
    }
    for (participant const* voter : voters) {
        labels.merge(without(without(voter->values.labels, voter->last_run.own.labels), excluded));
    }
    return labels;
}

void merge_labels(
    participants_view participants, merge_options const& options, choice const& settled,
    merged_track& merged)
{
    label_set all;
    std::optional<label_set> labels = agreed_labels(participants, options.excluded_labels, all);
    if (std::optional<label_set> newer = newer_labels(participants, options.excluded_labels)) {
        labels = std::move(newer);
    }
    if (!labels) {
        merged.in_conflict |= field::labels;
    }
    bool is_chosen = false;
    label_set chosen;
    for (std::size_t provider : settled.labels_from) {
        if (participant const* one = taking_part(participants, provider)) {
            is_chosen = true;
            chosen.merge(without(one->values.labels, options.excluded_labels));
        }
    }
    if (is_chosen) {
        labels = chosen;
    } else if (!labels) {
        if (participant const* winner = preferred(participants, options)) {
            labels = without(winner->values.labels, options.excluded_labels);
        } else if (options.labels == label_policy::unite) {
            labels = all;
        }
    }
    if (!labels) {
        merged.unsettled |= field::labels;
    }
    merged.values.labels = labels.value_or(label_set{});
}

statistics goal_of(participant const& one, statistics const& values, merge_options const& options)
{
    statistics goal = values;
    goal.rating = rating_after(values.rating, one.rating_step);
    // A player of whole stars may hold half a star that another program wrote. It is no other
    // value.
    if (rating_after(one.values.rating, one.rating_step) == goal.rating) {
        goal.rating = one.values.rating;
    }
    if (is_near(one.values.last_played, values.last_played, one.tolerance_s)) {
        goal.last_played = one.values.last_played;
    }
    for (std::string const& label : one.values.labels) {
        if (options.excluded_labels.contains(label)) {
            goal.labels.insert(label);
        }
    }
    if (one.spelling != nullptr) {
        goal.labels = spelled(goal.labels, *one.spelling);
    }
    return goal;
}

/// plan_updates: the views are the participants with their labels in one spelling.
void plan_updates(
    participants_view participants, participants_view views, merge_options const& options,
    merged_track& merged)
{
    bool const any_recent = std::ranges::any_of(
        participants, [](participant const& one) { return one.recent_plays != 0; });
    for (std::size_t place = 0; place < participants.size(); ++place) {
        participant const& one = participants[place];
        fields const allowed = (options.synced & one.writable) - merged.unsettled;
        statistics const goal = goal_of(views[place], merged.values, options);
        fields updates = differences(one.values, goal) & allowed;
        if (any_recent && allowed.has(field::play_count)) {
            updates |= field::play_count; // A device forgets its recent plays when it is written.
        }
        merged.updates.push_back(updates);
        merged.after.push_back(one.values);
        assign(merged.after.back(), goal, updates);
    }
}

} // namespace

int rating_after(int rating, int rating_step)
{
    return (rating + rating_step - 1) / rating_step * rating_step;
}

merged_track merge(
    std::span<participant const> participants, merge_options const& options, choice const& settled)
{
    merged_track merged;
    merge_dates(participants, merged.values);
    merged.values.play_count = merge_plays(participants);
    if (options.synced.has(field::rating)) {
        merge_ratings(participants, options, settled, merged);
    }
    bool const has_spelling = std::ranges::any_of(
        participants, [](participant const& one) { return one.spelling != nullptr; });
    std::vector<participant> const spelled_alike =
        has_spelling ? in_one_spelling(participants, options.excluded_labels)
                     : std::vector<participant>{};
    participants_view const views = has_spelling ? participants_view(spelled_alike) : participants;
    if (options.synced.has(field::labels)) {
        merge_labels(views, options, settled, merged);
    }
    plan_updates(participants, views, options, merged);
    return merged;
}

remembered remember(
    remembered before, merged_track const& merged, std::size_t place, merge_options const& options)
{
    fields const settled = (options.synced & remembered_fields) - merged.unsettled;
    before.known |= settled;
    assign(before.own, merged.after[place], settled);
    assign(before.agreed, merged.values, settled);
    before.own.labels = without(before.own.labels, options.excluded_labels);
    return before;
}

} // namespace statsync
