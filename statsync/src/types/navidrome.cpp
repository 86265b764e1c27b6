// navidrome: Navidrome's database. Each of its users has ratings and play counts of their own.

#include "core/failure.hpp"
#include "core/text.hpp"
#include "types/sql_provider.hpp"
#include "types/types.hpp"

#include <algorithm>
#include <ctime>
#include <set>

namespace statsync {
namespace {

/// Names that Navidrome gives to files without tags.
constexpr std::string_view no_artist = "[Unknown Artist]";
constexpr std::string_view no_album = "[Unknown Album]";

std::set<std::string> columns_of(sql_database& database, std::string const& table)
{
    std::set<std::string> columns;
    database.select("PRAGMA table_info(" + table + ")", [&](sql_row const& row) {
        columns.insert(row.text(1));
    });
    if (columns.empty()) {
        throw failure(problem::unread, "it is no database of Navidrome: no table " + table);
    }
    return columns;
}

/// user_id: the id of the user of this name, or of the only one.
std::string user_id(sql_database& database, std::string const& wanted)
{
    std::string id;
    std::string names;
    std::size_t count = 0;
    database.select("SELECT id, user_name FROM user ORDER BY user_name", [&](sql_row const& row) {
        if (wanted.empty() || row.text(1) == wanted) {
            id = row.text(0);
            ++count;
        }
        names += (names.empty() ? "" : ", ") + row.text(1);
    });
    if (count != 1) {
        throw failure(
            problem::settings, (wanted.empty() ? "user=NAME is needed" : "no user is " + wanted) +
                                   "; Navidrome's users: " + names);
    }
    return id;
}

/// date_text: a date as Navidrome has it, which compares dates as texts.
sql_value date_text(time_stamp date)
{
    if (!date) {
        return {};
    }
    std::time_t const time = static_cast<std::time_t>(*date);
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[40];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S+00:00", &parts));
}

class navidrome_provider : public sql_provider
{
public:
    explicit navidrome_provider(instance configured)
        : sql_provider(
              configured, sqlite_store(expanded(configured.setting("path"))), {"navidrome"})
    {
    }

    /// where: Navidrome usually runs as a user of its own, whose open files this user may not see.
    places where() const override
    {
        places all = sql_provider::where();
        all.is_server = true;
        return all;
    }

protected:
    abilities type_can() const override
    {
        // The year may be the original one, and composers are apart.
        return {
            mandatory_fields | fields{field::track_number, field::disc_number},
            {field::rating, field::last_played, field::play_count},
            2};
    }

    std::vector<track> read_tracks(sql_database& database) override
    {
        std::set<std::string> const columns = columns_of(database, "media_file");
        std::string sql =
            "SELECT m.id, m.title, m.artist, m.album, '', 0, m.track_number, m.disc_number,"
            " a.rating, strftime('%s', a.play_date), a.play_count FROM media_file m"
            " LEFT JOIN annotation a ON a.item_id = m.id AND a.item_type = 'media_file'"
            " AND a.user_id = " +
            text_literal(user_id(database, configured().setting("user")));
        // Files that are gone are there until Navidrome forgets them.
        sql += columns.contains("missing") ? " WHERE NOT m.missing" : "";
        std::vector<track> tracks;
        database.select(sql, [&](sql_row const& row) { tracks.push_back(track_of(row)); });
        return tracks;
    }

    void prepare_write(sql_database& database, std::span<change const>) override
    {
        user_ = user_id(database, configured().setting("user"));
        annotation_ = columns_of(database, "annotation");
        has_average_ = columns_of(database, "media_file").contains("average_rating");
        if (annotation_.contains("ann_id")) {
            throw failure(
                problem::unwritten, "Navidrome before 0.53 is read only; start a newer one once");
        }
    }

    void write_track(sql_database& database, change const& changed) override
    {
        // A song that its user has not played or rated has no row.
        database.execute(
            "INSERT OR IGNORE INTO annotation (user_id, item_id, item_type)"
            " SELECT ?, id, 'media_file' FROM media_file WHERE id = ?",
            {user_, changed.key});
        std::vector<assignment> columns;
        statistics const& after = changed.after;
        if (changed.changed.has(field::rating)) {
            columns.push_back({"rating", std::int64_t{(after.rating + 1) / 2}});
        }
        if (changed.changed.has(field::last_played)) {
            columns.push_back({"play_date", date_text(after.last_played)});
        }
        if (changed.changed.has(field::play_count)) {
            columns.push_back({"play_count", after.play_count});
        }
        update_row(
            database, "annotation", columns,
            {{"user_id", user_}, {"item_id", changed.key}, {"item_type", "media_file"}});
        if (changed.changed.has(field::rating)) {
            write_rating_facts(database, changed.key);
        }
    }

private:
    static track track_of(sql_row const& row)
    {
        track one;
        one.key = row.text(0);
        one.identity = identity_of(row, 1);
        if (one.identity.artist == no_artist) {
            one.identity.artist.clear();
        }
        if (one.identity.album == no_album) {
            one.identity.album.clear();
        }
        one.statistics.rating = rating_in_range(2 * row.real(8));
        one.statistics.last_played = date_of(row.number(9));
        one.statistics.play_count = std::max<std::int64_t>(row.number(10), 0);
        return one;
    }

    /// write_rating_facts: what Navidrome derives from a rating when one is given.
    void write_rating_facts(sql_database& database, std::string const& key) const
    {
        if (annotation_.contains("rated_at")) {
            database.execute(
                "UPDATE annotation SET rated_at = strftime('%Y-%m-%d %H:%M:%S+00:00', 'now')"
                " WHERE user_id = ? AND item_id = ? AND item_type = 'media_file'",
                {user_, key});
        }
        if (has_average_) {
            database.execute(
                "UPDATE media_file SET average_rating = COALESCE((SELECT ROUND(AVG(rating), 2)"
                " FROM annotation WHERE item_id = ? AND item_type = 'media_file' AND rating > 0),"
                " 0) WHERE id = ?",
                {key, key});
        }
    }

    std::string user_;
    std::set<std::string> annotation_;
    bool has_average_ = false;
};

} // namespace

provider_type navidrome_type()
{
    std::string const path = "/var/lib/navidrome/navidrome.db";
    return {
        "navidrome",
        "Navidrome",
        {{"path", "the database of Navidrome", path},
         {"user", "the name of its user, where it has several"}},
        {path},
        made_by<navidrome_provider>};
}

} // namespace statsync
