// merge: which statistics the same track should have in all providers, and what is in conflict.

#pragma once

#include "core/track.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace statsync {

/// remembered: what a run left behind of one track in one provider. Without the state of an earlier
/// run no field is known.
struct remembered
{
    fields known;
    statistics own;    ///< The provider's own values after the run.
    statistics agreed; ///< The values for all providers. Some cannot store them.

    friend bool operator==(remembered const&, remembered const&) = default;
};

/// remembered_fields: those in which a merge can use the state of an earlier run.
inline constexpr fields remembered_fields{field::rating, field::play_count, field::labels};

/// label_spelling: labels that a database spells in another way, and how.
using label_spelling = std::map<std::string, std::string>;

/// participant: one provider's part in a group of tracks that are the same.
struct participant
{
    std::size_t provider = 0; ///< Its index, by which choices name it.
    fields writable;
    int rating_step = 1; ///< 2 for a player with whole stars: an odd rating is rounded up.
    statistics values;
    std::int64_t recent_plays = 0;
    remembered last_run = {};
    /// By how much the last play may be off. Another date within it is the same date.
    std::int64_t tolerance_s = 0;
    /// Of the labels that it may get. None where the database keeps every label as it is; else the
    /// map outlives the participant.
    label_spelling const* spelling = nullptr;
};

/// rating_after: the rating that a provider has after this one was written.
int rating_after(int rating, int rating_step);

/// rating_policy: the rating that wins a conflict which no choice settles.
enum class rating_policy
{
    leave,
    highest,
    lowest
};

/// label_policy: the labels that win a conflict which no choice settles.
enum class label_policy
{
    leave,
    unite
};

struct merge_options
{
    fields synced = statistic_fields;
    label_set excluded_labels = {}; ///< Neither added, nor removed, nor compared.

    /// Ratings are equal only if they are the same number, though one player has whole stars only.
    bool exact_ratings = false;
    /// An unrated track does not object to a rating; then a removed rating comes back.
    bool unrated_yields = false;

    rating_policy ratings = rating_policy::leave;
    label_policy labels = label_policy::leave;
    /// Providers whose rating and labels win a conflict, the first of them that takes part.
    std::vector<std::size_t> preferred = {};
};

/// choice: how the conflicts of one group are settled. It comes before every policy.
struct choice
{
    std::optional<std::size_t> rating_from = {};
    std::vector<std::size_t> labels_from = {}; ///< Their labels are united.

    friend bool operator==(choice const&, choice const&) = default;
};

struct merged_track
{
    statistics values;             ///< Meaningless in fields that are in conflict.
    fields in_conflict;            ///< Fields on which participants disagree, settled or not.
    fields unsettled;              ///< Those that nothing settles. They are not written.
    std::vector<fields> updates;   ///< The fields to write, for each participant.
    std::vector<statistics> after; ///< Each participant's statistics after that.
};

/// merge never lowers a play count, never moves the first play to later or the last to earlier, and
/// updates only fields that are synced, writable, and different from what is there.
///
/// Where all participants remember the same last run, a rating that changed in one of them wins,
/// also if it was removed; labels that were added or removed in one are added or removed in all.
/// Plays since the last run add up.
///
/// The last play of a participant whose dates may be off counts only where it is later than those
/// of more exact ones by more than that.
merged_track merge(
    std::span<participant const> participants, merge_options const& options,
    choice const& settled = {});

/// remember: what a participant remembers after this merge was written. Fields that were not
/// synced, or are unsettled, stay as they were remembered. Excluded labels are not remembered.
remembered remember(
    remembered before, merged_track const& merged, std::size_t place, merge_options const& options);

} // namespace statsync
