#include "core/failure.hpp"
#include "store/sqlite.hpp"
#include "tests/convention/convention.hpp"

#include <doctest/doctest.h>

namespace statsync::sqlite_types_test {
namespace {

constexpr fields three{field::rating, field::last_played, field::play_count};

convention_type const clementine = file_type("clementine", "a.db", make_clementine, three);
convention_type const strawberry = file_type("strawberry", "a.db", make_strawberry, three);
convention_type const banshee = file_type("banshee", "a.db", make_banshee, three);
convention_type const amarok = file_type("amarok-1.4", "a.db", make_amarok_1_4, statistic_fields);

constexpr fields navidrome_reliable =
    mandatory_fields | fields{field::track_number, field::disc_number};

/// navidrome: the provider is one of its two users'.
convention_type navidrome()
{
    return {
        "navidrome",
        [](std::filesystem::path const& folder, sample_list samples) {
            make_navidrome(folder / "a.db", samples);
            return setting_map{{"path", (folder / "a.db").string()}, {"user", "owner"}};
        },
        three, navidrome_reliable};
}

/// value: the first column of the first row.
std::string value(sql_database& database, std::string const& sql)
{
    std::string text = "no row";
    database.select(sql, [&](sql_row const& row) { text = row.is_null(0) ? "NULL" : row.text(0); });
    return text;
}

TEST_CASE("Clementine keeps the convention")
{
    check_convention(clementine);
}

TEST_CASE("Strawberry keeps the convention")
{
    check_convention(strawberry);
}

TEST_CASE("Banshee keeps the convention")
{
    check_convention(banshee);
}

TEST_CASE("Navidrome keeps the convention")
{
    check_convention(navidrome());
}

TEST_CASE("of several users of Navidrome one has to be named, and only his rows change")
{
    temporary_folder const folder;
    setting_map settings = navidrome().make(folder.path(), convention_samples());
    auto const player_of = [&](std::string const& user) {
        settings["user"] = user;
        return type_named(all_types(), "navidrome").make({"1", "navidrome", "n", settings});
    };
    for (char const* user : {"", "nobody"}) {
        CHECK_THROWS_WITH_AS(player_of(user)->tracks(), doctest::Contains("guest, owner"), failure);
    }
    std::unique_ptr<provider> const guest = player_of("guest");
    track const one = *guest->artist_tracks("testStatistics").at(3);
    CHECK(one.key == "song-40");
    CHECK(one.statistics.play_count == 999);
    change const rated{one.key, {field::rating, field::last_played}, {}, {8, {}, 1378126000}};
    guest->write(std::span(&rated, 1));

    sqlite_database database(settings.at("path"), sqlite_database::access::read);
    std::string const row = " FROM annotation WHERE item_id = 'song-40' AND user_id = ";
    CHECK(value(database, "SELECT play_date" + row + "'u2'") == "2013-09-02 12:46:40+00:00");
    CHECK(value(database, "SELECT rated_at IS NULL" + row + "'u2'") == "0");
    CHECK(value(database, "SELECT rating" + row + "'u1' AND item_type = 'album'") == "1");
    // The average of 2 stars, the owner's, and 4.
    CHECK(value(database, "SELECT average_rating FROM media_file WHERE id = 'song-40'") == "3.0");
}

TEST_CASE("Amarok 1.4 keeps the convention")
{
    check_convention(amarok);
}

/// database_after clears all statistics of testStatistics/title0 and opens the database.
class database_after
{
public:
    explicit database_after(convention_type const& type)
    {
        setting_map const settings = type.make(folder_.path(), convention_samples());
        std::unique_ptr<provider> const player =
            type_named(all_types(), type.name).make({"1", type.name, "n", settings});
        track const one = *player->artist_tracks("testStatistics").at(0);
        change const cleared{one.key, player->can().writable, one.statistics, {}};
        player->write(std::span(&cleared, 1));
        database_ =
            std::make_unique<sqlite_database>(settings.at("path"), sqlite_database::access::read);
    }

    std::string value(std::string const& sql) { return sqlite_types_test::value(*database_, sql); }

private:
    temporary_folder folder_;
    std::unique_ptr<sqlite_database> database_;
};

TEST_CASE("Clementine's own convention for unset values is kept, and only one row changes")
{
    database_after database(clementine);
    std::string const row = " FROM songs WHERE artist = 'testStatistics' AND title = 'title0'";
    CHECK(database.value("SELECT playcount" + row) == "0");
    CHECK(database.value("SELECT rating" + row) == "-1");
    CHECK(database.value("SELECT lastplayed" + row) == "-1");
    CHECK(database.value("SELECT count(*) FROM songs WHERE playcount = 15") == "2");
}

TEST_CASE("a song of Clementine that was moved is not read, so that it makes no duplicate")
{
    temporary_folder const folder;
    setting_map const settings = clementine.make(folder.path(), convention_samples());
    std::unique_ptr<provider> const player =
        type_named(all_types(), "clementine").make({"1", "clementine", "n", settings});
    CHECK(player->artist_tracks("caseSensitiveTitle").size() == 3);
}

TEST_CASE("Banshee's unknown date is NULL")
{
    database_after database(banshee);
    CHECK(
        database.value("SELECT LastPlayedStamp FROM CoreTracks t JOIN CoreArtists USING (ArtistID)"
                       " WHERE Name = 'testStatistics' AND t.Title = 'title0'") == "NULL");
}

TEST_CASE("Amarok 1.4's statistics of the same path on another device stay")
{
    database_after database(amarok);
    CHECK(database.value("SELECT playcounter FROM statistics WHERE deviceid = 2") == "99");
    CHECK(database.value("SELECT count(*) FROM tags_labels WHERE labelid = 1000") == "1");
}

TEST_CASE("a new row of Amarok 1.4 has the url and the unique id of the file")
{
    temporary_folder const folder;
    setting_map const settings = amarok.make(folder.path(), convention_samples());
    std::unique_ptr<provider> const player =
        type_named(all_types(), amarok.name).make({"1", amarok.name, "n", settings});
    track const one = *player->artist_tracks("utfTitle").at(0);
    change const played{one.key, field::play_count, {}, {.play_count = 1}};
    player->write(std::span(&played, 1));
    sqlite_database database(settings.at("path"), sqlite_database::access::read);
    CHECK(
        value(
            database,
            "SELECT count(*) FROM statistics s JOIN uniqueid u ON u.url = s.url"
            " AND u.uniqueid = s.uniqueid AND u.deviceid = s.deviceid WHERE playcounter = 1") ==
        "1");
}

TEST_CASE("a new row of Amarok 1.4 has no unique id where the row of a file that is gone has it")
{
    temporary_folder const folder;
    setting_map const settings = amarok.make(folder.path(), convention_samples());
    sqlite_database(settings.at("path"), sqlite_database::access::write)
        .run("INSERT INTO statistics SELECT './gone.mp3', 1, 1, 2, 99, 10, 99, uniqueid, 1"
             " FROM uniqueid WHERE url NOT IN (SELECT url FROM statistics) LIMIT 1");
    std::unique_ptr<provider> const player =
        type_named(all_types(), amarok.name).make({"1", amarok.name, "n", settings});
    std::vector<change> changes;
    for (track const& one : player->tracks()) {
        changes.push_back({one.key, field::play_count, one.statistics, {.play_count = 321}});
    }
    player->write(changes);
    sqlite_database database(settings.at("path"), sqlite_database::access::read);
    std::string const count = "SELECT COUNT(*) FROM statistics WHERE playcounter = 321";
    CHECK(value(database, count) == "57");
    CHECK(value(database, count + " AND uniqueid IS NULL") == "1");
}

TEST_CASE("a database that another program is writing is in use")
{
    temporary_folder const folder;
    setting_map const settings = clementine.make(folder.path(), convention_samples());
    sqlite_database other(settings.at("path"), sqlite_database::access::write);
    other.begin();
    sqlite_database waiting(settings.at("path"), sqlite_database::access::write);
    waiting.run("PRAGMA busy_timeout = 0");
    CHECK_THROWS_AS(waiting.begin(), failure);
}

TEST_CASE("a database with a log that a player left behind is read whole, and left alone")
{
    temporary_folder const folder;
    setting_map const settings = clementine.make(folder.path(), convention_samples());
    std::filesystem::path const file = settings.at("path");
    temporary_folder const crashed;
    {
        sqlite_database writer(file, sqlite_database::access::write);
        writer.run("PRAGMA journal_mode = WAL; UPDATE songs SET playcount = 77");
        std::filesystem::copy(file, crashed / "a.db");
        std::filesystem::copy(file.string() + "-wal", crashed / "a.db-wal");
    }
    std::unique_ptr<provider> const player =
        type_named(all_types(), "clementine")
            .make({"1", "clementine", "n", {{"path", (crashed / "a.db").string()}}});
    file_state const before = state_of(crashed / "a.db-wal");
    CHECK(player->tracks().at(0).statistics.play_count == 77);
    CHECK(state_of(crashed / "a.db-wal") == before);
    CHECK_FALSE(std::filesystem::exists(crashed / "a.db-shm"));
}

} // namespace
} // namespace statsync::sqlite_types_test
