// banshee: Banshee's database.

#include "core/failure.hpp"
#include "core/text.hpp"
#include "types/sql_provider.hpp"
#include "types/types.hpp"

#include <algorithm>
#include <charconv>

namespace statsync {
namespace {

bool has_table(sql_database& database, std::string const& name)
{
    bool found = false;
    database.select(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + name + "'",
        [&](sql_row const&) { found = true; });
    return found;
}

/// library_source: the id of the music library; other sources are devices, videos and podcasts.
std::int64_t library_source(sql_database& database)
{
    std::int64_t id = 1; // Banshee inserts the library first.
    if (has_table(database, "CorePrimarySources")) {
        database.select(
            "SELECT PrimarySourceID FROM CorePrimarySources"
            " WHERE StringID = 'MusicLibrarySource-Library'",
            [&](sql_row const& row) { id = row.number(0); });
    }
    return id;
}

/// tolerance_of: seconds that a setting names.
std::int64_t tolerance_of(std::string const& text)
{
    std::int64_t seconds = 0;
    char const* const end = text.data() + text.size();
    std::from_chars_result const read = std::from_chars(text.data(), end, seconds);
    if (!text.empty() && (read.ec != std::errc() || read.ptr != end || seconds < 0)) {
        throw failure(problem::settings, "tolerance is a number of seconds, not " + text);
    }
    return seconds;
}

class banshee_provider : public sql_provider
{
public:
    explicit banshee_provider(instance configured)
        : sql_provider(configured, sqlite_store(expanded(configured.setting("path"))), {"banshee"})
        , tolerance_s_(tolerance_of(configured.setting("tolerance")))
    {
    }

protected:
    abilities type_can() const override
    {
        return {
            identity_fields,
            {field::rating, field::last_played, field::play_count},
            2,
            tolerance_s_};
    }

    std::vector<track> read_tracks(sql_database& database) override
    {
        std::string const sql =
            "SELECT t.TrackID, t.Title, a.Name, b.Title, t.Composer, t.Year, t.TrackNumber, t.Disc,"
            " t.Rating, t.LastPlayedStamp, t.PlayCount FROM CoreTracks t"
            " LEFT JOIN CoreArtists a ON a.ArtistID = t.ArtistID"
            " LEFT JOIN CoreAlbums b ON b.AlbumID = t.AlbumID WHERE t.PrimarySourceID = " +
            std::to_string(library_source(database));
        std::vector<track> tracks;
        database.select(sql, [&](sql_row const& row) { tracks.push_back(track_of(row)); });
        return tracks;
    }

    void write_track(sql_database& database, change const& changed) override
    {
        std::vector<assignment> columns;
        statistics const& after = changed.after;
        if (changed.changed.has(field::rating)) {
            columns.push_back({"Rating", std::int64_t{(after.rating + 1) / 2}});
        }
        if (changed.changed.has(field::last_played)) {
            sql_value const date = after.last_played ? sql_value(*after.last_played) : sql_value();
            columns.push_back({"LastPlayedStamp", date});
        }
        if (changed.changed.has(field::play_count)) {
            columns.push_back({"PlayCount", after.play_count});
        }
        update_row(database, "CoreTracks", columns, {{"TrackID", key_number(changed)}});
    }

private:
    static track track_of(sql_row const& row)
    {
        auto const text = [&](int column) { return std::string(trimmed(row.text(column))); };
        auto const number = [&](int column) { return static_cast<int>(row.number(column)); };
        track one;
        one.key = row.text(0);
        one.identity = {text(1), text(2), text(3), text(4), number(5), number(6), number(7)};
        one.statistics.rating = rating_in_range(2 * row.real(8));
        one.statistics.last_played = date_of(row.number(9));
        one.statistics.play_count = std::max<std::int64_t>(row.number(10), 0);
        return one;
    }

    std::int64_t tolerance_s_;
};

} // namespace

provider_type banshee_type()
{
    std::string const path = "$XDG_CONFIG_HOME/banshee-1/banshee.db";
    return {
        "banshee",
        "Banshee",
        {{"path", "the database of Banshee", path},
         {"tolerance", "seconds by which last plays may be off; 3600 for summer time", "0"}},
        {path},
        made_by<banshee_provider>};
}

} // namespace statsync
