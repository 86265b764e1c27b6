// amarok: Amarok 2 and 3, whose database is on a server, or in a directory that Amarok serves
// itself.

#include "core/failure.hpp"
#include "types/label_ids.hpp"
#include "types/mysql_store.hpp"
#include "types/types.hpp"

#include <algorithm>
#include <unordered_map>

namespace statsync {
namespace {

constexpr std::int64_t version_max = 16; ///< Of Amarok 3.3. A newer one is read, and not written.

class amarok_provider : public sql_provider
{
public:
    amarok_provider(instance configured, std::unique_ptr<sql_store> store)
        : sql_provider(std::move(configured), std::move(store), {"amarok"})
    {
    }

    void remove_unused(label_set const& labels) override
    {
        std::unique_ptr<sql_database> const database = open_to_write();
        lock_tables(*database, "labels WRITE, urls_labels READ");
        label_ids_.remove_unused(*database, labels);
    }

protected:
    abilities type_can() const override { return {identity_fields, statistic_fields}; }

    std::vector<track> read_tracks(sql_database& database) override
    {
        std::unordered_map<std::string, label_set> labels;
        database.select(
            "SELECT u.url, l.label FROM urls_labels u JOIN labels l ON l.id = u.label",
            [&](sql_row const& row) { labels[row.text(0)].insert(row.text(1)); });
        std::vector<track> tracks;
        database.select(
            "SELECT t.url, t.title, a.name, b.name, c.name, y.name, t.tracknumber, t.discnumber,"
            " s.rating, s.createdate, s.accessdate, s.playcount FROM tracks t"
            " JOIN artists a ON a.id = t.artist LEFT JOIN albums b ON b.id = t.album"
            " LEFT JOIN composers c ON c.id = t.composer LEFT JOIN years y ON y.id = t.year"
            " LEFT JOIN statistics s ON s.url = t.url AND s.deleted = 0",
            [&](sql_row const& row) {
                tracks.push_back(track_of(row));
                auto const found = labels.find(tracks.back().key);
                if (found != labels.end()) {
                    tracks.back().statistics.labels = found->second;
                }
            });
        return tracks;
    }

    void prepare_write(sql_database& database, std::span<change const> changes) override
    {
        database.select(
            "SELECT version FROM admin WHERE component = 'DB_VERSION'", [](sql_row const& row) {
                if (row.number(0) > version_max) {
                    throw failure(
                        problem::unwritten, "the database is of a newer Amarok: " + row.text(0));
                }
            });
        lock_tables(database, "statistics WRITE, labels WRITE, urls_labels WRITE, tracks READ");
        label_ids_.prepare(database, changes);
    }

    void write_track(sql_database& database, change const& changed) override
    {
        std::int64_t const url = key_number(changed);
        bool is_there = false;
        database.select(
            "SELECT 1 FROM tracks WHERE url = " + std::to_string(url),
            [&](sql_row const&) { is_there = true; });
        if (!is_there) {
            throw failure(problem::unwritten, "a track is gone");
        }
        if (!(changed.changed - field::labels).empty()) {
            write_statistics(database, url, changed);
        }
        if (changed.changed.has(field::labels)) {
            write_labels(database, url, changed.after.labels);
        }
    }

private:
    static track track_of(sql_row const& row)
    {
        track one;
        one.key = row.text(0);
        one.identity = identity_of(row, 1);
        one.statistics.rating = rating_in_range(row.real(8));
        one.statistics.first_played = date_of(row.number(9));
        one.statistics.last_played = date_of(row.number(10));
        one.statistics.play_count = std::max<std::int64_t>(row.number(11), 0);
        return one;
    }

    static void write_statistics(sql_database& database, std::int64_t url, change const& changed)
    {
        statistics const& after = changed.after;
        std::vector<assignment> columns{{"deleted", std::int64_t{0}}};
        if (changed.changed.has(field::rating)) {
            columns.push_back({"rating", std::int64_t{after.rating}});
        }
        if (changed.changed.has(field::first_played)) {
            columns.push_back({"createdate", after.first_played.value_or(0)});
        }
        if (changed.changed.has(field::last_played)) {
            columns.push_back({"accessdate", after.last_played.value_or(0)});
        }
        if (changed.changed.has(field::play_count)) {
            columns.push_back({"playcount", after.play_count});
        }
        // A track that was never played has no row.
        database.execute("INSERT IGNORE INTO statistics (url) VALUES (?)", {url});
        update_row(database, "statistics", columns, {{"url", url}});
    }

    /// write_labels inserts first: where it ends in the middle, no label is lost.
    void write_labels(sql_database& database, std::int64_t url, label_set const& labels) const
    {
        std::set<std::int64_t> const ids = label_ids_.of(labels);
        for (std::int64_t id : ids) {
            std::int64_t const found = database.execute(
                "UPDATE urls_labels SET label = label WHERE url = ? AND label = ?", {url, id});
            if (found == 0) {
                database.execute("INSERT INTO urls_labels (url, label) VALUES (?, ?)", {url, id});
            }
        }
        std::vector<sql_value> values{url};
        std::string const condition = except(ids, "label", values);
        database.execute("DELETE FROM urls_labels WHERE url = ?" + condition, values);
    }

    label_ids label_ids_{
        {"label", "label IS NOT NULL", "INSERT INTO labels (label) VALUES (?)", "urls_labels",
         "label", true}};
};

} // namespace

provider_type amarok_type()
{
    std::string const path = "$XDG_DATA_HOME/amarok/mysqle";
    return {
        "amarok",
        "Amarok",
        {{"path", "the directory of Amarok's own database", path},
         {"database", "its name there", "amarok"}},
        {path, "~/.kde/share/apps/amarok/mysqle", "~/.kde4/share/apps/amarok/mysqle"},
        [](instance configured) {
            std::unique_ptr<sql_store> store =
                folder_store(expanded(configured.setting("path")), configured.setting("database"));
            return std::make_unique<amarok_provider>(std::move(configured), std::move(store));
        }};
}

provider_type amarok_server_type()
{
    return {"amarok-server", "Amarok on a server", server_settings(), {}, [](instance configured) {
                std::unique_ptr<sql_store> store = server_store(configured);
                return std::make_unique<amarok_provider>(std::move(configured), std::move(store));
            }};
}

} // namespace statsync
