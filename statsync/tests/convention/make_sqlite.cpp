#include "store/sqlite.hpp"
#include "tests/convention/sample.hpp"

#include <map>

namespace statsync {
namespace {

std::string address(std::size_t index)
{
    return "/music/it's%20" + std::to_string(index) + ".mp3";
}

sql_value number_or_unset(int value)
{
    return std::int64_t{value == 0 ? -1 : value};
}

sql_value text_or_null(std::string const& text)
{
    return text.empty() ? sql_value() : sql_value(text);
}

/// name_table: a table of names with ids, which is filled while tracks refer to it.
class name_table
{
public:
    name_table(sql_database& database, std::string sql) : database_(database), sql_(sql) {}

    std::int64_t id_of(std::string const& name)
    {
        auto const [entry, is_new] = ids_.try_emplace(name, std::int64_t(ids_.size()) + 1);
        if (is_new) {
            database_.execute(sql_, {entry->second, text_or_empty(name)});
        }
        return entry->second;
    }

private:
    static sql_value text_or_empty(std::string const& text) { return text; }

    sql_database& database_;
    std::string sql_;
    std::map<std::string, std::int64_t> ids_;
};

/// song_table: how Clementine and Strawberry name the columns that differ.
struct song_table
{
    std::string columns;
    std::string address_column;
};

std::int64_t insert_song(
    sql_database& database, song_table const& table, sample const& one, std::string const& url,
    bool is_unavailable)
{
    statistics const& values = one.statistics;
    sql_value const rating =
        values.rating == 0 ? sql_value(std::int64_t{-1}) : sql_value(values.rating / 10.0);
    return database.execute(
        "INSERT INTO songs (title, artist, album, composer, year, track, disc, rating, lastplayed,"
        " playcount, unavailable, " +
            table.address_column + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {one.stored.title, one.stored.artist, one.stored.album, one.stored.composer,
         number_or_unset(one.stored.year), number_or_unset(one.stored.track_number),
         number_or_unset(one.stored.disc_number), rating, values.last_played.value_or(-1),
         values.play_count, std::int64_t{is_unavailable ? 1 : 0}, url});
}

void make_songs(std::filesystem::path const& file, sample_list samples, song_table const& table)
{
    sqlite_database database(file, sqlite_database::access::create);
    database.begin();
    database.run(
        "CREATE TABLE songs (title TEXT, album TEXT, artist TEXT, albumartist TEXT, composer TEXT,"
        " track INTEGER, disc INTEGER, year INTEGER, genre TEXT, playcount INTEGER NOT NULL"
        " DEFAULT 0, skipcount INTEGER NOT NULL DEFAULT 0, lastplayed INTEGER, rating INTEGER,"
        " beginning INTEGER NOT NULL DEFAULT 0, unavailable INTEGER DEFAULT 0, " +
        table.columns + ")");
    for (std::size_t i = 0; i < samples.size(); ++i) {
        // All are tracks of one CUE sheet, so that they have one file.
        insert_song(database, table, samples[i], "file:///music/sheet.flac", false);
        if (i == 0) {
            insert_song(database, table, samples[i], "file:///music/moved.flac", true);
        }
    }
    database.commit();
}

void create_amarok_1_4(sqlite_database& database)
{
    for (char const* table : {"album", "artist", "composer", "genre", "year"}) {
        database.run("CREATE TABLE " + std::string(table) + " (id INTEGER PRIMARY KEY, name TEXT)");
    }
    database.run(
        "CREATE TABLE tags (url TEXT, deviceid INTEGER, album INTEGER, artist INTEGER,"
        " composer INTEGER, genre INTEGER, title TEXT, year INTEGER, track INTEGER,"
        " discnumber INTEGER, createdate INTEGER);"
        "CREATE TABLE statistics (url TEXT, deviceid INTEGER, createdate INTEGER,"
        " accessdate INTEGER, percentage FLOAT, rating INTEGER DEFAULT 0, playcounter INTEGER,"
        " uniqueid TEXT UNIQUE, deleted BOOL DEFAULT 0, PRIMARY KEY (url, deviceid));"
        "CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT, type INTEGER);"
        "CREATE TABLE tags_labels (deviceid INTEGER, url TEXT, uniqueid TEXT, labelid INTEGER);"
        "CREATE TABLE uniqueid (url TEXT, deviceid INTEGER, uniqueid TEXT UNIQUE, dir TEXT);"
        // The same path on another device, and a label of another type.
        "INSERT INTO statistics VALUES ('./music/it''s%200.mp3', 2, 1, 2, 99, 10, 99, 'other', 0);"
        "INSERT INTO labels VALUES (1000, 'no label of users', 2);"
        "INSERT INTO tags_labels VALUES (1, './music/it''s%200.mp3', 'u0', 1000)");
}

} // namespace

void make_clementine(std::filesystem::path const& file, sample_list samples)
{
    make_songs(file, samples, {"directory INTEGER, filename TEXT NOT NULL", "filename"});
}

void make_strawberry(std::filesystem::path const& file, sample_list samples)
{
    make_songs(file, samples, {"directory_id INTEGER, url TEXT, source INTEGER DEFAULT 2", "url"});
    sqlite_database database(file, sqlite_database::access::write);
    database.run(
        "INSERT INTO songs (title, artist, album, url, source) VALUES ('a stream', 'wrongSource',"
        " '', 'https://example.org', 5)");
}

void make_banshee(std::filesystem::path const& file, sample_list samples)
{
    sqlite_database database(file, sqlite_database::access::create);
    database.begin();
    database.run(
        "CREATE TABLE CoreTracks (PrimarySourceID INTEGER, TrackID INTEGER PRIMARY KEY, ArtistID"
        " INTEGER, AlbumID INTEGER, Uri TEXT, Title TEXT, TrackNumber INTEGER, Disc INTEGER,"
        " Year INTEGER, Composer TEXT, Rating INTEGER, PlayCount INTEGER, LastPlayedStamp INTEGER,"
        " DateUpdatedStamp INTEGER);"
        "CREATE TABLE CoreArtists (ArtistID INTEGER PRIMARY KEY, Name TEXT);"
        "CREATE TABLE CoreAlbums (AlbumID INTEGER PRIMARY KEY, Title TEXT);"
        "CREATE TABLE CorePrimarySources (PrimarySourceID INTEGER PRIMARY KEY, StringID TEXT);"
        "INSERT INTO CorePrimarySources VALUES (1, 'podcasts');"
        "INSERT INTO CorePrimarySources VALUES (4, 'MusicLibrarySource-Library');"
        "INSERT INTO CoreArtists VALUES (100000, 'wrongSource');"
        "INSERT INTO CoreTracks (PrimarySourceID, TrackID, ArtistID, Title) VALUES"
        " (1, 1000000, 100000, 'a podcast')");
    name_table artists(database, "INSERT INTO CoreArtists VALUES (?, ?)");
    name_table albums(database, "INSERT INTO CoreAlbums VALUES (?, NULLIF(?, ''))");
    for (std::size_t i = 0; i < samples.size(); ++i) {
        identity const& track = samples[i].stored;
        statistics const& values = samples[i].statistics;
        database.execute(
            "INSERT INTO CoreTracks VALUES (4, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            {artists.id_of(track.artist), albums.id_of(track.album), "file://" + address(i),
             track.title, std::int64_t{track.track_number}, std::int64_t{track.disc_number},
             std::int64_t{track.year}, text_or_null(track.composer),
             std::int64_t{(values.rating + 1) / 2}, values.play_count,
             values.last_played ? sql_value(*values.last_played) : sql_value()});
    }
    database.commit();
}

void make_amarok_1_4(std::filesystem::path const& file, sample_list samples)
{
    sqlite_database database(file, sqlite_database::access::create);
    database.begin();
    create_amarok_1_4(database);
    name_table artists(database, "INSERT INTO artist VALUES (?, ?)");
    name_table albums(database, "INSERT INTO album VALUES (?, ?)");
    name_table composers(database, "INSERT INTO composer VALUES (?, ?)");
    name_table years(database, "INSERT INTO year VALUES (?, ?)");
    name_table labels(database, "INSERT INTO labels VALUES (?, ?, 1)");
    for (std::size_t i = 0; i < samples.size(); ++i) {
        identity const& track = samples[i].stored;
        statistics const& values = samples[i].statistics;
        std::string const url = "." + address(i);
        std::string const unique = "u" + std::to_string(i);
        database.execute(
            "INSERT INTO tags (url, deviceid, album, artist, composer, title, year, track,"
            " discnumber, createdate) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, 77)",
            {url, albums.id_of(track.album), artists.id_of(track.artist),
             composers.id_of(track.composer), track.title, years.id_of(std::to_string(track.year)),
             std::int64_t{track.track_number}, std::int64_t{track.disc_number}});
        // The last track has no row of its own, as after an interrupted scan.
        if (i + 1 < samples.size()) {
            database.execute("INSERT INTO uniqueid VALUES (?, 1, ?, '/music')", {url, unique});
        }
        if (values != statistics{}) {
            database.execute(
                "INSERT INTO statistics VALUES (?, 1, ?, ?, 50, ?, ?, ?, 0)",
                {url, values.first_played.value_or(0), values.last_played.value_or(0),
                 std::int64_t{values.rating}, values.play_count, unique});
        }
        for (std::string const& label : values.labels) {
            database.execute(
                "INSERT INTO tags_labels VALUES (1, ?, ?, ?)", {url, unique, labels.id_of(label)});
        }
    }
    database.commit();
}

} // namespace statsync
