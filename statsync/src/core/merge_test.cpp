#include "core/spelling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace statsync::merge_test {
namespace {

constexpr fields read_only{};

participant with(std::size_t provider, statistics values, fields writable = statistic_fields)
{
    return {provider, writable, 1, std::move(values), 0};
}

participant rated(std::size_t provider, int rating, fields writable = field::rating, int step = 1)
{
    participant one = with(provider, {.rating = rating}, writable);
    one.rating_step = step;
    return one;
}

participant played(std::size_t provider, std::int64_t plays, std::int64_t recent = 0)
{
    participant one = with(provider, {.play_count = plays});
    one.recent_plays = recent;
    return one;
}

participant labelled(std::size_t provider, label_set labels, fields writable = field::labels)
{
    return with(provider, {.labels = std::move(labels)}, writable);
}

merged_track merge_list(
    std::vector<participant> participants, merge_options options = {}, choice settled = {})
{
    return merge(participants, options, settled);
}

/// writes: for each participant whether the field is written to it.
std::vector<bool> writes(merged_track const& merged, field one)
{
    std::vector<bool> written;
    for (fields updates : merged.updates) {
        written.push_back(updates.has(one));
    }
    return written;
}

using flags = std::vector<bool>;

TEST_CASE("vectors 1 to 3: the earliest first and the latest last play")
{
    merged_track const first =
        merge_list({with(0, {.first_played = 100}), with(1, {.first_played = 200}), with(2, {})});
    CHECK(first.values.first_played == 100);
    CHECK(writes(first, field::first_played) == flags{false, true, true});

    merged_track const last =
        merge_list({with(0, {.last_played = 100}), with(1, {.last_played = 200}, read_only)});
    CHECK(last.values.last_played == 200);
    CHECK(writes(last, field::last_played) == flags{true, false});

    merged_track const none = merge_list({with(0, {}), with(1, {})});
    CHECK(none.values.first_played == std::nullopt);
    CHECK(writes(none, field::first_played) == flags{false, false});
}

TEST_CASE("vectors 4, 5 and 20: the play count is the highest, and recent plays add up")
{
    merged_track const higher = merge_list({played(0, 5), played(1, 9)});
    CHECK(higher.values.play_count == 9);
    CHECK(writes(higher, field::play_count) == flags{true, false});

    merged_track const recent = merge_list({played(0, 5, 2), played(1, 9)});
    CHECK(recent.values.play_count == 11);
    CHECK(writes(recent, field::play_count) == flags{true, true});

    CHECK(
        writes(merge_list({played(0, 5), played(1, 5)}), field::play_count) == flags{false, false});
}

TEST_CASE("vectors 6 to 8: ratings that differ are in conflict, and nothing is written")
{
    merged_track const same = merge_list({rated(0, 6), rated(1, 6)});
    CHECK(same.values.rating == 6);
    CHECK(same.in_conflict.empty());
    CHECK(writes(same, field::rating) == flags{false, false});

    for (int other : {8, 0}) {
        merged_track const differs = merge_list({rated(0, 6), rated(1, other)});
        CHECK(differs.in_conflict == fields(field::rating));
        CHECK(differs.unsettled == fields(field::rating));
        CHECK(writes(differs, field::rating) == flags{false, false});
    }
}

TEST_CASE("vectors 9 to 11: an unrated track votes only where ratings can be written")
{
    merged_track const ignored = merge_list({rated(0, 6), rated(1, 0, read_only)});
    CHECK(ignored.values.rating == 6);
    CHECK(ignored.unsettled.empty());
    CHECK(writes(ignored, field::rating) == flags{false, false});

    CHECK(merge_list({rated(0, 0), rated(1, 8, read_only)}).unsettled == fields(field::rating));
    CHECK(merge_list({rated(0, 0, read_only), rated(1, 0, read_only)}).values.rating == 0);
}

TEST_CASE("vectors 12 and 13: the chosen provider's rating is written to the others")
{
    merged_track const second = merge_list({rated(0, 6), rated(1, 8)}, {}, {.rating_from = 1});
    CHECK(second.values.rating == 8);
    CHECK(writes(second, field::rating) == flags{true, false});
    CHECK(second.unsettled.empty());
    CHECK(second.in_conflict == fields(field::rating));

    merged_track const first =
        merge_list({rated(0, 6), rated(1, 8), rated(2, 8)}, {}, {.rating_from = 0});
    CHECK(first.values.rating == 6);
    CHECK(writes(first, field::rating) == flags{false, true, true});
}

TEST_CASE("vectors 14 to 16: labels that differ are in conflict")
{
    merged_track const same = merge_list({labelled(0, {"x"}), labelled(1, {"x"})});
    CHECK(same.values.labels == label_set{"x"});
    CHECK(writes(same, field::labels) == flags{false, false});

    CHECK(merge_list({labelled(0, {"x"}), labelled(1, {})}).unsettled == fields(field::labels));
    merged_track const ignored = merge_list({labelled(0, {"x"}), labelled(1, {}, read_only)});
    CHECK(ignored.values.labels == label_set{"x"});
    CHECK(ignored.unsettled.empty());
}

TEST_CASE("vectors 17 and 18: excluded labels are neither compared, added nor removed")
{
    merge_options const options{.excluded_labels = {"s"}};
    merged_track const same = merge_list({labelled(0, {"x", "s"}), labelled(1, {"x"})}, options);
    CHECK(same.unsettled.empty());
    CHECK(writes(same, field::labels) == flags{false, false});

    merged_track const united =
        merge_list({labelled(0, {"x"}), labelled(1, {"y", "s"})}, options, {.labels_from = {0, 1}});
    CHECK(united.values.labels == label_set{"x", "y"});
    CHECK(united.after[0].labels == label_set{"x", "y"});
    CHECK(united.after[1].labels == label_set{"x", "y", "s"});
}

TEST_CASE("labels that are equal to a database are no conflict, and are not written to it")
{
    label_spelling const spelling{{"Rock", "rock"}, {"ROCK", "rock"}};
    participant server = labelled(1, {"rock"});
    server.spelling = &spelling;
    merged_track const same = merge_list({labelled(0, {"Rock"}), server});
    CHECK(same.in_conflict.empty());
    CHECK(same.values.labels == label_set{"Rock"});
    CHECK(writes(same, field::labels) == flags{false, false});

    merged_track const both = merge_list({labelled(0, {"ROCK", "Rock"}), server});
    CHECK(both.in_conflict.empty());
    CHECK(writes(both, field::labels) == flags{false, false});

    merged_track const more =
        merge_list({labelled(0, {"Rock", "x"}), server}, {.labels = label_policy::unite});
    CHECK(more.in_conflict.has(field::labels));
    CHECK(more.after[0].labels == label_set{"Rock", "x"});
    CHECK(more.after[1].labels == label_set{"rock", "x"});

    // Excluded is the label, in each spelling of it.
    merged_track const excluded =
        merge_list({labelled(0, {"x"}), server}, {.excluded_labels = {"rock"}, .preferred = {0}});
    CHECK(excluded.after[1].labels == label_set{"rock", "x"});
}

TEST_CASE("with a last run a label goes in both spellings")
{
    label_spelling const spelling{{"Rock", "rock"}};
    remembered const exact{field::labels, {.labels = {"Rock"}}, {.labels = {"Rock"}}};
    remembered const own{field::labels, {.labels = {"rock"}}, {.labels = {"Rock"}}};
    participant player = labelled(0, {});
    player.last_run = exact;
    participant server = labelled(1, {"rock"});
    server.last_run = own;
    server.spelling = &spelling;
    CHECK(merge_list({player, server}).after[1].labels.empty());

    player.values.labels = {"Rock"};
    CHECK(writes(merge_list({player, server}), field::labels) == flags{false, false});
    server.values.labels = {};
    CHECK(merge_list({player, server}).after[0].labels.empty());
}

TEST_CASE("vector 19: a field that is not synced is never written, and never in conflict")
{
    statistics const left{.rating = 2, .first_played = 1, .play_count = 3, .labels = {"a"}};
    statistics const right{.rating = 4, .first_played = 2, .play_count = 5, .labels = {"b"}};
    for (field one : list(statistic_fields)) {
        merged_track const merged =
            merge_list({with(0, left), with(1, right)}, {.synced = statistic_fields - one});
        CHECK_FALSE(merged.in_conflict.has(one));
        CHECK(writes(merged, one) == flags{false, false});
    }
}

TEST_CASE("a player of whole stars agrees with the half star that it rounds up")
{
    merged_track const agreed = merge_list({rated(0, 7), rated(1, 8, field::rating, 2)});
    CHECK(agreed.unsettled.empty());
    CHECK(agreed.values.rating == 7);
    CHECK(writes(agreed, field::rating) == flags{false, false});

    merged_track const differs = merge_list({rated(0, 7), rated(1, 6, field::rating, 2)});
    CHECK(differs.unsettled == fields(field::rating));
    merged_track const exact =
        merge_list({rated(0, 7), rated(1, 8, field::rating, 2)}, {.exact_ratings = true});
    CHECK(exact.unsettled == fields(field::rating));
    // Another program wrote half a star into its database: the player agrees with itself.
    CHECK(merge_list({rated(0, 7), rated(1, 7, field::rating, 2)}).unsettled.empty());
}

TEST_CASE("policies settle conflicts, and choices come before them")
{
    std::vector<participant> const three{rated(0, 6), rated(1, 8), rated(2, 0)};
    CHECK(merge_list(three, {.ratings = rating_policy::highest}).values.rating == 8);
    CHECK(merge_list(three, {.ratings = rating_policy::lowest}).values.rating == 6);
    CHECK(merge_list(three, {.preferred = {7, 1}}).values.rating == 8);
    CHECK(merge_list(three, {.preferred = {1}}, {.rating_from = 0}).values.rating == 6);
    CHECK(merge_list(three, {.preferred = {7}}).unsettled == fields(field::rating));

    std::vector<participant> const two{labelled(0, {"x"}), labelled(1, {"y"})};
    CHECK(merge_list(two, {.labels = label_policy::unite}).values.labels == label_set{"x", "y"});
    CHECK(merge_list(two, {.preferred = {1}}).values.labels == label_set{"y"});
}

TEST_CASE("an unrated track yields where this is asked for")
{
    merge_options const options{.unrated_yields = true};
    merged_track const merged = merge_list({rated(0, 0), rated(1, 8)}, options);
    CHECK(merged.unsettled.empty());
    CHECK(writes(merged, field::rating) == flags{true, false});
    CHECK(merge_list({rated(0, 6), rated(1, 8)}, options).unsettled == fields(field::rating));
}

participant played_at(std::size_t provider, std::int64_t date, std::int64_t tolerance_s)
{
    participant one = with(provider, {.last_played = date});
    one.tolerance_s = tolerance_s;
    return one;
}

TEST_CASE("a last play that may be off by an hour is the same as one within it")
{
    constexpr std::int64_t hour_s = 3600;
    for (std::int64_t off : {-hour_s, std::int64_t{1}, hour_s}) {
        merged_track const near =
            merge_list({played_at(0, 50000 + off, hour_s), played_at(1, 50000, 0)});
        CHECK(near.values.last_played == 50000);
        CHECK(writes(near, field::last_played) == flags{false, false});
    }
    merged_track const later =
        merge_list({played_at(0, 50001 + hour_s, hour_s), played_at(1, 50000, 0)});
    CHECK(writes(later, field::last_played) == flags{false, true});
    merged_track const earlier =
        merge_list({played_at(0, 49999 - hour_s, hour_s), played_at(1, 50000, 0)});
    CHECK(writes(earlier, field::last_played) == flags{true, false});

    // An unknown date is near no other one, and two that may be off keep theirs.
    participant unknown = with(0, {});
    unknown.tolerance_s = hour_s;
    CHECK(
        writes(merge_list({unknown, played_at(1, 100, 0)}), field::last_played) ==
        flags{true, false});
    CHECK(
        writes(
            merge_list({played_at(0, 100, hour_s), played_at(1, 200, hour_s)}),
            field::last_played) == flags{false, false});
}

/// random_source makes participants; the same seed makes the same ones.
class random_source
{
public:
    explicit random_source(unsigned seed) : engine_(seed) {}

    std::vector<participant> participants()
    {
        std::vector<participant> made;
        std::size_t const count = 2 + below(3);
        for (std::size_t provider = 0; provider < count; ++provider) {
            participant one{provider, writable(), below(2) == 0 ? 1 : 2, values(), 0, last_run()};
            one.values.rating = rating_after(one.values.rating, one.rating_step);
            one.tolerance_s = below(3) == 0 ? static_cast<std::int64_t>(below(3) * 100) : 0;
            if (below(4) == 0) {
                one.spelling = below(2) == 0 ? &a_for_b_ : &c_for_b_;
                one.values.labels = spelled(one.values.labels, *one.spelling);
                one.last_run.own.labels = spelled(one.last_run.own.labels, *one.spelling);
            }
            made.push_back(one);
        }
        return made;
    }

    merge_options options()
    {
        merge_options made;
        made.synced = statistic_fields - some();
        if (below(2) == 0) {
            made.excluded_labels = {"b"};
        }
        made.unrated_yields = below(2) == 0;
        made.exact_ratings = below(4) == 0;
        made.ratings = static_cast<rating_policy>(below(3));
        made.labels = static_cast<label_policy>(below(2));
        if (below(4) == 0) {
            made.preferred = {below(5), below(5)};
        }
        return made;
    }

    std::size_t below(std::size_t end) { return engine_() % end; }

private:
    fields some()
    {
        fields made;
        for (field one : list(statistic_fields)) {
            made |= below(4) == 0 ? fields(one) : fields();
        }
        return made;
    }

    /// last_run: nothing in half of the cases, and often a state on which all participants agree.
    remembered last_run()
    {
        if (below(2) == 0) {
            return {};
        }
        remembered made{remembered_fields - some(), values(), values()};
        made.agreed.rating = static_cast<int>(below(2)) * 4;
        made.agreed.labels = {"a"};
        return made;
    }

    fields writable() { return statistic_fields - some(); }

    time_stamp date()
    {
        return below(3) == 0 ? time_stamp() : time_stamp(static_cast<std::int64_t>(below(1000)));
    }

    statistics values()
    {
        statistics made{
            .rating = below(2) == 0 ? 0 : static_cast<int>(below(11)),
            .first_played = date(),
            .last_played = date(),
            .play_count = static_cast<std::int64_t>(below(30))};
        for (char const* label : {"a", "b", "c"}) {
            if (below(3) == 0) {
                made.labels.insert(label);
            }
        }
        return made;
    }

    std::mt19937 engine_;
    label_spelling a_for_b_{{"b", "a"}};
    label_spelling c_for_b_{{"b", "c"}};
};

TEST_CASE("property: a second merge writes nothing")
{
    random_source random(1);
    for (int round = 0; round < 20000; ++round) {
        std::vector<participant> participants = random.participants();
        bool const has_baseline = round % 2 == 0;
        if (!has_baseline) {
            std::ranges::for_each(participants, [](participant& one) { one.last_run = {}; });
        }
        merge_options options = random.options();
        // Whole stars never converge with half stars where ratings are compared exactly.
        options.exact_ratings = false;
        merged_track const first = merge(participants, options);
        for (std::size_t i = 0; i < participants.size(); ++i) {
            participants[i].values = first.after[i];
            if (has_baseline) {
                participants[i].last_run = remember(participants[i].last_run, first, i, options);
            }
        }
        for (fields updates : merge(participants, options).updates) {
            REQUIRE(updates.empty());
        }
    }
}

TEST_CASE("property: nothing is written that is not synced, not writable, or unsettled")
{
    random_source random(2);
    for (int round = 0; round < 20000; ++round) {
        std::vector<participant> const participants = random.participants();
        merge_options const options = random.options();
        merged_track const merged = merge(participants, options);
        for (std::size_t i = 0; i < participants.size(); ++i) {
            fields const allowed = (options.synced & participants[i].writable) - merged.unsettled;
            REQUIRE(allowed.has_all(merged.updates[i]));
            REQUIRE(differences(participants[i].values, merged.after[i]) == merged.updates[i]);
        }
        REQUIRE(merged.in_conflict.has_all(merged.unsettled));
    }
}

TEST_CASE("property: no play count falls, no first play is later, no last play earlier")
{
    random_source random(3);
    for (int round = 0; round < 20000; ++round) {
        std::vector<participant> const participants = random.participants();
        merged_track const merged = merge(participants, random.options());
        for (std::size_t i = 0; i < participants.size(); ++i) {
            statistics const& before = participants[i].values;
            statistics const& after = merged.after[i];
            REQUIRE(after.play_count >= before.play_count);
            REQUIRE((!before.first_played || *after.first_played <= *before.first_played));
            REQUIRE((!before.last_played || *after.last_played >= *before.last_played));
        }
    }
}

TEST_CASE("property: the order of providers does not matter")
{
    random_source random(4);
    for (int round = 0; round < 20000; ++round) {
        std::vector<participant> participants = random.participants();
        merge_options const options = random.options();
        merged_track const forward = merge(participants, options);
        std::vector<participant> reversed(participants.rbegin(), participants.rend());
        merged_track const backward = merge(reversed, options);
        REQUIRE(forward.unsettled == backward.unsettled);
        for (std::size_t i = 0; i < participants.size(); ++i) {
            std::size_t const mirrored = participants.size() - 1 - i;
            REQUIRE(forward.updates[i] == backward.updates[mirrored]);
            REQUIRE(forward.after[i] == backward.after[mirrored]);
        }
    }
}

} // namespace
} // namespace statsync::merge_test
