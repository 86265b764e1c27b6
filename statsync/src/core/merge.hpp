// merge: which statistics the same track should have in all providers, and what is in conflict.

#pragma once

#include "core/track.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace statsync {

/// participant: one provider's part in a group of tracks that are the same.
struct participant
{
    std::size_t provider = 0; ///< Its index, by which choices name it.
    fields writable;
    int rating_step = 1; ///< 2 for a player with whole stars: an odd rating is rounded up.
    statistics values;
    std::int64_t recent_plays = 0;
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
    std::vector<fields> updates;   ///< What is to be written, for each participant.
    std::vector<statistics> after; ///< Each participant's statistics after that.
};

/// merge never lowers a play count, never moves the first play to later or the last to earlier, and
/// updates only fields that are synced, writable, and different from what is there.
merged_track merge(
    std::span<participant const> participants, merge_options const& options,
    choice const& settled = {});

} // namespace statsync
