#include "core/failure.hpp"
#include "core/merge.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

namespace statsync {
namespace {

/// only: the statistics that a player stores, as it gives them back.
statistics only(statistics const& values, convention_type const& type, int rating_step)
{
    statistics kept;
    assign(kept, values, type.stored);
    kept.rating = rating_after(kept.rating, rating_step);
    kept.labels = type.has_distinct_labels ? distinct_labels(kept.labels) : kept.labels;
    return kept;
}

identity only(identity const& all, fields reliable)
{
    identity kept = all;
    kept.composer = reliable.has(field::composer) ? kept.composer : "";
    kept.year = reliable.has(field::year) ? kept.year : 0;
    kept.track_number = reliable.has(field::track_number) ? kept.track_number : 0;
    kept.disc_number = reliable.has(field::disc_number) ? kept.disc_number : 0;
    return kept;
}

bool is_before(track const& left, track const& right)
{
    auto const parts = [](identity const& one) {
        return std::tie(one.artist, one.title, one.album, one.composer);
    };
    return parts(left.identity) < parts(right.identity);
}

/// sorted: tracks without their keys, in an order that does not depend on the database.
std::vector<track> sorted(std::vector<track> tracks, fields reliable)
{
    for (track& one : tracks) {
        one.key.clear();
        one.identity = only(one.identity, reliable);
    }
    std::ranges::stable_sort(tracks, is_before);
    return tracks;
}

void check_same(std::vector<track> const& found, std::vector<track> const& expected)
{
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(expected[i].identity.artist);
        CAPTURE(expected[i].identity.title);
        CHECK(found[i].identity.artist == expected[i].identity.artist);
        CHECK(found[i].identity.title == expected[i].identity.title);
        CHECK(found[i].identity.album == expected[i].identity.album);
        CHECK(found[i].identity.composer == expected[i].identity.composer);
        CHECK(found[i].identity.year == expected[i].identity.year);
        CHECK(found[i].identity.track_number == expected[i].identity.track_number);
        CHECK(found[i].identity.disc_number == expected[i].identity.disc_number);
        for (field one : list(statistic_fields)) {
            CHECK(text_of(found[i].statistics, one) == text_of(expected[i].statistics, one));
        }
    }
}

void reads_all_tracks(convention_type const& type)
{
    convention_database database(type);
    int const step = database.player().can().rating_step;
    std::vector<track> expected;
    for (sample const& one : convention_samples()) {
        expected.push_back({"", one.expected, only(one.statistics, type, step), 0});
    }
    CHECK(expected.size() == 57);
    CHECK(database.player().can().reliable == type.reliable);
    check_same(sorted(database.player().tracks(), type.reliable), sorted(expected, type.reliable));
}

void knows_artists_exactly(convention_type const& type)
{
    convention_database database(type);
    provider& player = database.player();
    CHECK(player.artist_tracks("caseSensitiveArtist").size() == 1);
    CHECK(player.artist_tracks("caseSensitiveartist").size() == 1);
    CHECK(player.artist_tracks("CASESENSITIVEARTIST").empty());
    CHECK(player.artist_tracks("wrongSource").empty());
    CHECK(player.artist_tracks("Robert'); DROP TABLE students;--").empty());
    CHECK(player.artists().contains("utf\uF909\uF90A\uF90B"));
    CHECK(player.tracks().size() == 57);
}

/// write_and_check writes one change, and looks at all tracks: nothing else may be different.
void write_and_check(
    convention_database& database, convention_type const& type, std::string const& artist,
    int number, fields changed, statistics const& values)
{
    fields const writable = changed & database.player().can().writable;
    if (writable.empty()) {
        return;
    }
    std::string const title = "title" + std::to_string(number);
    CAPTURE(artist);
    CAPTURE(title);
    CAPTURE(names(writable));
    std::vector<track> expected = database.player().tracks();
    auto const place = std::ranges::find_if(expected, [&](track const& one) {
        return one.identity.artist == artist && one.identity.title == title;
    });
    REQUIRE(place != expected.end());
    change const one{place->key, writable, place->statistics, values};
    database.player().write(std::span(&one, 1));
    assign(place->statistics, values, writable);
    place->statistics = only(place->statistics, type, database.player().can().rating_step);

    database.reopen();
    check_same(sorted(database.player().tracks(), type.reliable), sorted(expected, type.reliable));
}

void writes_each_field(convention_type const& type)
{
    convention_database database(type);
    auto const write = [&](char const* artist, int number, fields changed, statistics values) {
        write_and_check(database, type, artist, number, changed, values);
    };
    constexpr std::int64_t date = 1378126000;
    for (int i = 0; i < 3; ++i) {
        write("testStatistics", i, field::rating, {.rating = 6 - i});
        write("testStatistics", 3 + i, field::rating, {});
        write("testStatisticsNotSet", 3 * i, field::rating, {.rating = 2 + i});
        write("testStatistics", i, field::first_played, {.first_played = date + i});
        write("testStatistics", 3 + i, field::first_played, {});
        write("testStatisticsNotSet", i, field::first_played, {.first_played = date + i});
        write("testStatistics", i, field::last_played, {.last_played = date + i});
        write("testStatistics", 3 + i, field::last_played, {});
        write("testStatisticsNotSet", 2 * i, field::last_played, {.last_played = date + i});
        write("testStatistics", i, field::play_count, {.play_count = 3 * i + 1});
        write("testStatistics", 3 + i, field::play_count, {});
        write("testStatisticsNotSet", 4 * i, field::play_count, {.play_count = 13 + i});
    }
    for (int i = 4; i < 7; ++i) {
        write(
            "testStatistics", i, statistic_fields,
            {9, date - 100, date + 100, 25, {"teh", "lab'ls"}});
        write("testStatistics", i, statistic_fields, {});
    }
    write("testStatisticsNotSet", 0, statistic_fields, {9, date, date, 25, {"teh", "lab'ls"}});
    // The last track of the list, which some databases know less about.
    write("testStatisticsNotSet", 9, statistic_fields, {9, date, date, 25, {"teh"}});
}

void writes_labels(convention_type const& type)
{
    convention_database database(type);
    auto const write = [&](char const* artist, int number, label_set labels) {
        write_and_check(
            database, type, artist, number, field::labels, {.labels = std::move(labels)});
    };
    write("testStatisticsNotSet", 0, {"new"});
    write("testStatisticsNotSet", 1, {"singleTag"});
    write("testStatisticsNotSet", 2, {"several", "new", "\u2622"});
    write("testStatisticsNotSet", 3, {"cs", "Cs"});
    write("testStatistics", 0, {"replaced"});
    write("testStatistics", 1, {"multiple", "other"});
    write("testStatistics", 2, {"caseSensitive", "casesensitive", "more"});
    write("testStatistics", 3, {});
    write("testStatistics", 0, {"multi word label", "' OR 1=1 --"});
}

void writes_all_or_nothing(convention_type const& type)
{
    convention_database database(type);
    provider& player = database.player();
    if (player.can().writable.empty() || !player.is_atomic()) {
        return;
    }
    std::vector<track> const before = player.tracks();
    track const& good = *player.artist_tracks("testStatistics").at(0);
    change const right{
        good.key, field::play_count & player.can().writable, good.statistics, {.play_count = 99}};
    change wrong = right;
    wrong.key = "999999999";
    change const both[] = {right, wrong};
    CHECK_THROWS_AS(player.write(both), std::exception);
    database.reopen();
    check_same(sorted(database.player().tracks(), type.reliable), sorted(before, type.reliable));
}

void backs_up_and_restores(convention_type const& type)
{
    convention_database database(type);
    provider& player = database.player();
    if (player.can().writable.empty() || !player.is_atomic()) {
        return;
    }
    temporary_folder const backup;
    std::vector<track> const before = player.tracks();
    player.back_up(backup.path());
    track const one = *player.artist_tracks("testStatistics").at(0);
    change const more{one.key, field::play_count, one.statistics, {.play_count = 99}};
    player.write(std::span(&more, 1));
    player.restore(backup.path());
    check_same(sorted(player.tracks(), type.reliable), sorted(before, type.reliable));
}

void reads_while_others_read(convention_type const& type)
{
    convention_database database(type);
    instance const configured = database.player().configured();
    std::vector<std::size_t> counts(4);
    std::vector<std::thread> readers;
    for (std::size_t& count : counts) {
        readers.emplace_back([&] {
            count = type_named(all_types(), configured.type).make(configured)->tracks().size();
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    CHECK(counts == std::vector<std::size_t>(4, 57));
}

void fails_on_nonsense(convention_type const& type)
{
    temporary_folder const folder;
    std::filesystem::path const garbage = folder / "garbage";
    replace_file(garbage, std::string(5000, '\x7f'));
    replace_file(folder / "empty", "");
    std::string const paths[] = {
        (folder / "missing").string(), garbage.string(), (folder / "empty").string(),
        folder.path().string(),        "\n\x01",         "relative"};
    for (std::string const& path : paths) {
        CAPTURE(path);
        instance const configured{"1", type.name, "n", {{"path", path}}};
        CHECK_THROWS_AS(type_named(all_types(), type.name).make(configured)->tracks(), failure);
    }
}

} // namespace

convention_database::convention_database(convention_type const& type)
    : registry_(folder_ / "providers.json", all_types())
    , settings_(type.make(folder_.path(), convention_samples()))
{
    registry_.create(type.name, "player", settings_);
    reopen();
}

void convention_database::reopen()
{
    provider_ = registry_.open(registry_.find("player"));
}

void check_convention(convention_type const& type)
{
    CAPTURE(type.name);
    reads_all_tracks(type);
    knows_artists_exactly(type);
    writes_each_field(type);
    writes_labels(type);
    writes_all_or_nothing(type);
    backs_up_and_restores(type);
    reads_while_others_read(type);
    fails_on_nonsense(type);
}

} // namespace statsync
