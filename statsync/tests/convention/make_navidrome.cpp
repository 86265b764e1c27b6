#include "store/sqlite.hpp"
#include "tests/convention/sample.hpp"

#include <ctime>

namespace statsync {
namespace {

char const* const tables =
    "PRAGMA journal_mode = WAL;"
    "CREATE TABLE user (id VARCHAR(255) NOT NULL PRIMARY KEY, user_name VARCHAR(255) UNIQUE);"
    "CREATE TABLE media_file (id VARCHAR(255) NOT NULL PRIMARY KEY, path VARCHAR(255), title"
    " VARCHAR(255), album VARCHAR(255), artist VARCHAR(255), track_number INTEGER DEFAULT 0,"
    " disc_number INTEGER DEFAULT 0, year INTEGER DEFAULT 0, missing BOOLEAN DEFAULT FALSE NOT"
    " NULL, average_rating REAL NOT NULL DEFAULT 0);"
    "CREATE TABLE annotation (user_id VARCHAR(255) NOT NULL REFERENCES user (id), item_id"
    " VARCHAR(255) NOT NULL DEFAULT '', item_type VARCHAR(255) NOT NULL DEFAULT '', play_count"
    " INTEGER DEFAULT 0, play_date DATETIME, rating INTEGER DEFAULT 0, starred BOOL DEFAULT FALSE"
    " NOT NULL, starred_at DATETIME, rated_at DATETIME, UNIQUE (user_id, item_id, item_type));"
    "INSERT INTO user VALUES ('u1', 'owner'), ('u2', 'guest');"
    "INSERT INTO media_file (id, title, album, artist, missing) VALUES"
    " ('gone', 'a file that is gone', '', 'wrongSource', TRUE);"
    // An album with the id of a song, and another user's opinion of that song.
    "INSERT INTO annotation (user_id, item_id, item_type, play_count, rating) VALUES"
    " ('u1', 'song-40', 'album', 999, 1), ('u2', 'song-40', 'media_file', 999, 1)";

/// local_date: a date as a server in another zone writes it, with a fraction of a second.
std::string local_date(std::int64_t seconds)
{
    constexpr std::int64_t zone_s = 2 * 60 * 60;
    std::time_t const time = static_cast<std::time_t>(seconds + zone_s);
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[64];
    std::size_t const size =
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S.123456789+02:00", &parts);
    return std::string(text, size);
}

} // namespace

void make_navidrome(std::filesystem::path const& file, sample_list samples)
{
    sqlite_database database(file, sqlite_database::access::create);
    database.run(tables);
    database.begin();
    for (std::size_t i = 0; i < samples.size(); ++i) {
        identity const& track = samples[i].stored;
        statistics const& values = samples[i].statistics;
        std::string const id = "song-" + std::to_string(i);
        database.execute(
            "INSERT INTO media_file (id, path, title, album, artist, track_number, disc_number,"
            " year) VALUES (?, ?, ?, COALESCE(NULLIF(?, ''), '[Unknown Album]'), ?, ?, ?, ?)",
            {id, id + ".flac", track.title, track.album, track.artist,
             std::int64_t{track.track_number}, std::int64_t{track.disc_number},
             std::int64_t{track.year}});
        if (values.rating != 0 || values.last_played || values.play_count != 0) {
            database.execute(
                "INSERT INTO annotation (user_id, item_id, item_type, play_count, play_date,"
                " rating) VALUES ('u1', ?, 'media_file', ?, ?, ?)",
                {id, values.play_count,
                 values.last_played ? sql_value(local_date(*values.last_played)) : sql_value(),
                 std::int64_t{(values.rating + 1) / 2}});
        }
    }
    database.commit();
}

} // namespace statsync
