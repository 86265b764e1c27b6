#include "store/mysql_server.hpp"
#include "tests/convention/sample.hpp"

#include <map>

namespace statsync {
namespace {

char const* const tables[] = {
    "CREATE TABLE admin (component VARCHAR(255), version INTEGER)",
    "INSERT INTO admin VALUES ('DB_VERSION', 16)",
    "CREATE TABLE urls (id INTEGER PRIMARY KEY AUTO_INCREMENT, deviceid INTEGER, rpath TEXT,"
    " uniqueid VARCHAR(128) UNIQUE)",
    "CREATE TABLE tracks (id INTEGER PRIMARY KEY AUTO_INCREMENT, url INTEGER UNIQUE,"
    " artist INTEGER, album INTEGER, composer INTEGER, year INTEGER, title VARCHAR(255),"
    " tracknumber INTEGER, discnumber INTEGER, createdate INTEGER)",
    "CREATE TABLE artists (id INTEGER PRIMARY KEY, name VARCHAR(255) UNIQUE)",
    "CREATE TABLE albums (id INTEGER PRIMARY KEY, name VARCHAR(255))",
    "CREATE TABLE composers (id INTEGER PRIMARY KEY, name VARCHAR(255))",
    "CREATE TABLE years (id INTEGER PRIMARY KEY, name VARCHAR(255))",
    "CREATE TABLE statistics (id INTEGER PRIMARY KEY AUTO_INCREMENT, url INTEGER NOT NULL UNIQUE,"
    " createdate INTEGER, accessdate INTEGER, score FLOAT, rating INTEGER NOT NULL DEFAULT 0,"
    " playcount INTEGER NOT NULL DEFAULT 0, deleted BOOL NOT NULL DEFAULT 0)",
    "CREATE TABLE labels (id INTEGER PRIMARY KEY AUTO_INCREMENT, label VARCHAR(100) UNIQUE)",
    "CREATE TABLE urls_labels (url INTEGER, label INTEGER)"};

/// ids: the ids of names, which are inserted when they are first asked for.
class ids
{
public:
    ids(sql_database& database, std::string const& table)
        : database_(database), sql_("INSERT INTO " + table + " VALUES (?, ?)")
    {
    }

    std::int64_t of_name(std::string const& name)
    {
        auto const [entry, is_new] = known_.try_emplace(name, std::int64_t(known_.size()) + 1);
        if (is_new) {
            database_.execute(sql_, {entry->second, name});
        }
        return entry->second;
    }

private:
    sql_database& database_;
    std::string sql_;
    std::map<std::string, std::int64_t> known_;
};

void fill_amarok_1_4(sql_database& database, sample_list samples)
{
    ids artists(database, "artist");
    ids albums(database, "album");
    ids composers(database, "composer");
    ids years(database, "year");
    std::map<std::string, std::int64_t> labels;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        identity const& track = samples[i].stored;
        statistics const& values = samples[i].statistics;
        std::string const url = "./music/it's " + std::to_string(i) + ".mp3";
        std::string const unique = "u" + std::to_string(i);
        database.execute(
            "INSERT INTO tags VALUES (?, -1, ?, ?, ?, ?, ?, ?, ?)",
            {url, albums.of_name(track.album), artists.of_name(track.artist),
             composers.of_name(track.composer), track.title,
             years.of_name(std::to_string(track.year)), std::int64_t{track.track_number},
             std::int64_t{track.disc_number}});
        database.execute("INSERT INTO uniqueid VALUES (?, -1, ?)", {url, unique});
        if (values != statistics{}) {
            database.execute(
                "INSERT INTO statistics VALUES (?, -1, ?, ?, 50, ?, ?, ?, 0)",
                {url, values.first_played.value_or(0), values.last_played.value_or(0),
                 std::int64_t{values.rating}, values.play_count, unique});
        }
        for (std::string const& label : distinct_labels(values.labels)) {
            auto const [entry, is_new] = labels.try_emplace(label, labels.size() + 1);
            if (is_new) {
                database.execute("INSERT INTO labels VALUES (?, ?, 1)", {entry->second, label});
            }
            database.execute(
                "INSERT INTO tags_labels VALUES (?, -1, ?, ?)", {url, unique, entry->second});
        }
    }
}

void fill(sql_database& database, sample_list samples)
{
    ids artists(database, "artists");
    ids albums(database, "albums");
    ids composers(database, "composers");
    ids years(database, "years");
    ids labels(database, "labels");
    // The ids of a track, of its url and of its statistics all differ.
    std::int64_t url = 1000;
    for (sample const& one : samples) {
        ++url;
        identity const& track = one.stored;
        database.execute(
            "INSERT INTO urls VALUES (?, -1, ?, ?)",
            {url, "./music/" + std::to_string(url), "amarok-sqltrackuid://" + std::to_string(url)});
        database.execute(
            "INSERT INTO tracks (url, artist, album, composer, year, title, tracknumber,"
            " discnumber, createdate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 77)",
            {url, artists.of_name(track.artist), albums.of_name(track.album),
             composers.of_name(track.composer), years.of_name(std::to_string(track.year)),
             track.title, std::int64_t{track.track_number}, std::int64_t{track.disc_number}});
        statistics const& values = one.statistics;
        if (values != statistics{}) {
            database.execute(
                "INSERT INTO statistics (url, createdate, accessdate, rating, playcount) VALUES"
                " (?, ?, ?, ?, ?)",
                {url, values.first_played.value_or(0), values.last_played.value_or(0),
                 std::int64_t{values.rating}, values.play_count});
        }
        for (std::string const& label : values.labels) {
            database.execute("INSERT INTO urls_labels VALUES (?, ?)", {url, labels.of_name(label)});
        }
    }
}

} // namespace

void make_amarok_1_4_tables(sql_database& database, sample_list samples)
{
    // As a server of that time makes them: MyISAM, and names that are compared without case.
    std::string const options = ") ENGINE=MyISAM CHARACTER SET utf8 COLLATE utf8_general_ci";
    std::string const url = "url VARCHAR(255) BINARY, deviceid INTEGER, ";
    std::string const id = "id INTEGER PRIMARY KEY AUTO_INCREMENT, name VARCHAR(255)";
    for (std::string const table : {"album", "artist", "composer", "year"}) {
        database.execute(
            "CREATE TABLE " + table + " (id INTEGER PRIMARY KEY, name VARCHAR(255) BINARY" +
            options);
    }
    database.execute(
        "CREATE TABLE tags (" + url +
        "album INTEGER, artist INTEGER, composer INTEGER, title VARCHAR(255), year INTEGER,"
        " track NUMERIC(4), discnumber INTEGER" +
        options);
    database.execute(
        "CREATE TABLE statistics (" + url +
        "createdate INTEGER, accessdate INTEGER, percentage FLOAT, rating INTEGER DEFAULT 0,"
        " playcounter INTEGER, uniqueid VARCHAR(32) UNIQUE, deleted BOOL DEFAULT FALSE,"
        " PRIMARY KEY (url, deviceid)" +
        options);
    database.execute("CREATE TABLE labels (" + id + ", type INTEGER" + options);
    database.execute("CREATE UNIQUE INDEX labels_name ON labels (name, type)");
    database.execute(
        "CREATE TABLE tags_labels (" + url + "uniqueid VARCHAR(32), labelid INTEGER" + options);
    database.execute("CREATE TABLE uniqueid (" + url + "uniqueid VARCHAR(32) UNIQUE" + options);
    fill_amarok_1_4(database, samples);
}

void make_amarok_tables(sql_database& database, sample_list samples)
{
    for (char const* sql : tables) {
        database.execute(sql);
    }
    fill(database, samples);
}

void make_amarok(std::filesystem::path const& folder, sample_list samples)
{
    std::filesystem::create_directories(folder / "amarok");
    mysql_server const server(folder);
    mysql_address address = server.address();
    address.database = "amarok";
    make_amarok_tables(*open_mysql(address), samples);
}

} // namespace statsync
