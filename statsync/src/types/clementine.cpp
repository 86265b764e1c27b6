// clementine: Clementine, and Strawberry, which descends from it. Both keep one table of songs;
// some of its columns have other names.

#include "core/failure.hpp"
#include "types/sql_provider.hpp"
#include "types/types.hpp"

#include <algorithm>
#include <set>

namespace statsync {
namespace {

constexpr double rating_unit = 10; // The databases hold ratings from 0 to 1.

std::set<std::string> columns_of_songs(sql_database& database)
{
    std::set<std::string> columns;
    database.select(
        "PRAGMA table_info(songs)", [&](sql_row const& row) { columns.insert(row.text(1)); });
    for (char const* needed : {"title", "playcount", "lastplayed", "rating"}) {
        if (!columns.contains(needed)) {
            throw failure(problem::unread, std::string("the table songs has no ") + needed);
        }
    }
    return columns;
}

class clementine_provider : public sql_provider
{
public:
    clementine_provider(instance configured, std::string player)
        : sql_provider(configured, sqlite_store(expanded(configured.setting("path"))), {player})
    {
    }

protected:
    abilities type_can() const override
    {
        return {identity_fields, {field::rating, field::last_played, field::play_count}};
    }

    std::vector<track> read_tracks(sql_database& database) override
    {
        std::set<std::string> const columns = columns_of_songs(database);
        std::string sql = "SELECT ROWID, title, artist, album, composer, year, track, disc, rating,"
                          " lastplayed, playcount FROM songs WHERE 1";
        // Files that were moved are still there under their old names.
        sql += columns.contains("unavailable") ? " AND COALESCE(unavailable, 0) = 0" : "";
        // Strawberry has songs of streaming services in the same table; 2 is the collection.
        sql += columns.contains("source") ? " AND source = 2" : "";
        std::vector<track> tracks;
        database.select(sql, [&](sql_row const& row) { tracks.push_back(track_of(row)); });
        return tracks;
    }

    void write_track(sql_database& database, change const& changed) override
    {
        std::vector<assignment> columns;
        statistics const& after = changed.after;
        if (changed.changed.has(field::rating)) {
            double const rating = after.rating == 0 ? -1.0 : after.rating / rating_unit;
            columns.push_back({"rating", rating});
        }
        if (changed.changed.has(field::last_played)) {
            columns.push_back({"lastplayed", after.last_played.value_or(-1)});
        }
        if (changed.changed.has(field::play_count)) {
            columns.push_back({"playcount", after.play_count});
        }
        // Not by file: several tracks of a CUE sheet are in one.
        update_row(database, "songs", columns, {{"ROWID", key_number(changed)}});
    }

private:
    static track track_of(sql_row const& row)
    {
        track one;
        one.key = row.text(0);
        one.identity = identity_of(row, 1);
        one.statistics.rating = rating_in_range(row.real(8) * rating_unit);
        one.statistics.last_played = date_of(row.number(9));
        one.statistics.play_count = std::max<std::int64_t>(row.number(10), 0);
        return one;
    }
};

provider_type song_table_type(
    std::string name, std::string title, std::string path, std::string flatpak)
{
    return {
        name,
        title,
        {{"path", "the database of " + title, path}},
        {path, flatpak},
        [name](instance configured) {
            return std::make_unique<clementine_provider>(std::move(configured), name);
        }};
}

} // namespace

provider_type clementine_type()
{
    return song_table_type(
        "clementine", "Clementine", "$XDG_CONFIG_HOME/Clementine/clementine.db",
        "~/.var/app/org.clementine_player.Clementine/config/Clementine/clementine.db");
}

provider_type strawberry_type()
{
    return song_table_type(
        "strawberry", "Strawberry", "$XDG_DATA_HOME/strawberry/strawberry/strawberry.db",
        "~/.var/app/org.strawberrymusicplayer.strawberry/data/strawberry/strawberry/strawberry.db");
}

} // namespace statsync
