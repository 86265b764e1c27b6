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

void make_amarok(std::filesystem::path const& folder, sample_list samples)
{
    std::filesystem::create_directories(folder / "amarok");
    mysql_server const server(folder);
    mysql_address address = server.address();
    address.database = "amarok";
    std::unique_ptr<sql_database> const database = open_mysql(address);
    for (char const* sql : tables) {
        database->execute(sql);
    }
    fill(*database, samples);
}

} // namespace statsync
