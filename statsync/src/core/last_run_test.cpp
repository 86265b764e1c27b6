#include "core/merge.hpp"

#include <doctest/doctest.h>

namespace statsync::last_run_test {
namespace {

/// since: a participant that remembers what it had, and what all agreed on, at the last run.
participant since(
    std::size_t provider, statistics last, statistics now, fields writable = statistic_fields)
{
    return {provider, writable, 1, std::move(now), 0, {remembered_fields, last, last}};
}

participant rated(std::size_t provider, int last, int now)
{
    return since(provider, {.rating = last}, {.rating = now});
}

participant played(std::size_t provider, std::int64_t last, std::int64_t now)
{
    return since(provider, {.play_count = last}, {.play_count = now});
}

participant labelled(std::size_t provider, label_set last, label_set now)
{
    return since(provider, {.labels = std::move(last)}, {.labels = std::move(now)});
}

merged_track merge_list(std::vector<participant> participants, merge_options options = {})
{
    return merge(participants, options);
}

TEST_CASE("plays since the last run add up")
{
    merged_track const both = merge_list({played(0, 3, 5), played(1, 3, 4)});
    CHECK(both.after[0].play_count == 6);
    CHECK(both.after[1].play_count == 6);
    CHECK(merge_list({played(0, 3, 3), played(1, 3, 3)}).updates[0].empty());
    // A player that has lost its count gets it back.
    CHECK(merge_list({played(0, 3, 0), played(1, 3, 4)}).after[0].play_count == 4);
}

TEST_CASE("a count that no run has seen is not added, since it may contain the same plays")
{
    participant fresh = played(2, 0, 20);
    fresh.last_run = {};
    CHECK(merge_list({played(0, 3, 5), fresh}).values.play_count == 20);
    CHECK(merge_list({played(0, 18, 22), played(1, 18, 19), fresh}).values.play_count == 23);
}

TEST_CASE("plays that another run has carried over are not counted twice")
{
    // Two players had 10; a run with a third player raised the first one to 12.
    CHECK(merge_list({played(0, 12, 12), played(1, 10, 11)}).values.play_count == 13);
}

TEST_CASE("the rating that changed since the last run wins, also where it was removed")
{
    for (int changed : {8, 0}) {
        merged_track const merged = merge_list({rated(0, 6, 6), rated(1, 6, changed)});
        CHECK(merged.in_conflict.empty());
        CHECK(merged.after[0].rating == changed);
    }
    // A removal wins over the rule that unrated tracks yield.
    CHECK(
        merge_list({rated(0, 6, 6), rated(1, 6, 0)}, {.unrated_yields = true}).after[0].rating ==
        0);
}

TEST_CASE("two ratings that changed since the last run to different ones are in conflict")
{
    merged_track const merged = merge_list({rated(0, 6, 8), rated(1, 6, 4), rated(2, 6, 6)});
    CHECK(merged.unsettled == fields(field::rating));
    merged_track const same = merge_list({rated(0, 6, 8), rated(1, 6, 8), rated(2, 6, 6)});
    CHECK(same.after[2].rating == 8);
    merged_track const settled =
        merge_list({rated(0, 6, 8), rated(1, 6, 4)}, {.ratings = rating_policy::highest});
    CHECK(settled.after[1].rating == 8);
}

TEST_CASE("ratings of different last runs are compared without them")
{
    // The first one changed to 8 in a run with a third player, and since then neither changed.
    CHECK(merge_list({rated(0, 8, 8), rated(1, 6, 6)}).unsettled == fields(field::rating));
    participant fresh = rated(1, 0, 6);
    fresh.last_run = {};
    CHECK(merge_list({rated(0, 6, 8), fresh}).unsettled == fields(field::rating));
}

TEST_CASE("a half star that a player of whole stars rounded up is no change")
{
    participant whole = rated(1, 8, 8);
    whole.rating_step = 2;
    whole.last_run.agreed.rating = 7;
    merged_track const merged = merge_list({rated(0, 7, 7), whole});
    CHECK(merged.values.rating == 7);
    CHECK(merge_list({rated(0, 7, 3), whole}).after[1].rating == 4);
}

TEST_CASE("a rating that a player could not store is not its change at the next run")
{
    participant silent = rated(0, 6, 6);
    silent.writable = {};
    participant changed = rated(1, 6, 8);
    merged_track const first = merge_list({silent, changed});
    CHECK(first.values.rating == 8);
    silent.last_run = remember(silent.last_run, first, 0, {});
    changed.last_run = remember(changed.last_run, first, 1, {});
    merged_track const second = merge_list({silent, changed});
    CHECK(second.unsettled.empty());
    CHECK(second.updates[1].empty());
    silent.writable = statistic_fields;
    CHECK(merge_list({silent, changed}).after[0].rating == 8);
}

TEST_CASE("labels that were added or removed since the last run are so everywhere")
{
    merged_track const merged =
        merge_list({labelled(0, {"a", "b"}, {"b", "c"}), labelled(1, {"a", "b"}, {"a", "b", "d"})});
    CHECK(merged.in_conflict.empty());
    CHECK(merged.after[0].labels == label_set{"b", "c", "d"});
    CHECK(merged.after[1].labels == label_set{"b", "c", "d"});
}

TEST_CASE("labels that were excluded from the last run are not removed when they no longer are")
{
    merge_options const excluding{.excluded_labels = {"s"}};
    std::vector<participant> both{
        labelled(0, {"x", "s"}, {"x", "s"}), labelled(1, {"x", "s"}, {"x", "s"})};
    merged_track const first = merge(both, excluding);
    for (std::size_t i = 0; i < both.size(); ++i) {
        both[i].last_run = remember({}, first, i, excluding);
    }
    CHECK(merge(both, {}).after[0].labels == label_set{"x", "s"});
}

TEST_CASE("a field that is unsettled, or not synced, is remembered as before")
{
    participant const left = rated(0, 6, 8);
    participant const right = rated(1, 6, 4);
    merged_track const merged = merge_list({left, right});
    remembered const after = remember(left.last_run, merged, 0, {});
    CHECK(after.own.rating == 6);
    merge_options const plays_only{.synced = field::play_count};
    CHECK(remember({}, merged, 0, plays_only).known == fields(field::play_count));
}

} // namespace
} // namespace statsync::last_run_test
