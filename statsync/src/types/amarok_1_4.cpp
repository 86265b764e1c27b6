// amarok_1_4: Amarok 1.4, whose database is a file of SQLite, or on a server of MySQL.

#include "core/failure.hpp"
#include "types/label_ids.hpp"
#include "types/mysql_store.hpp"
#include "types/types.hpp"

#include <algorithm>
#include <unordered_map>

namespace statsync {
namespace {

constexpr std::int64_t user_label = 1; // labels.type

/// A file is named by its device and by its path there.
std::string key_of(std::string const& device, std::string const& url)
{
    return device + ':' + url;
}

struct file_name
{
    std::int64_t device;
    std::string url;
};

file_name name_of_key(std::string const& key)
{
    std::size_t const colon = key.find(':');
    if (colon == std::string::npos) {
        throw failure(problem::unwritten, "no key of a track: " + key);
    }
    return {std::stoll(key.substr(0, colon)), key.substr(colon + 1)};
}

class amarok_1_4_provider : public sql_provider
{
public:
    amarok_1_4_provider(instance configured, std::unique_ptr<sql_store> store)
        : sql_provider(std::move(configured), std::move(store), {"amarokapp", "amarok"})
        , label_ids_(
              {"name", "type = " + std::to_string(user_label),
               "INSERT INTO labels (name, type) VALUES (?, " + std::to_string(user_label) + ")",
               "tags_labels", "labelid", !is_atomic()})
    {
    }

    label_spelling spelling_of(label_set const& labels) override
    {
        try {
            return spelling_on_server(*open_to_read(), labels);
        } catch (failure const&) {
            // A server before MySQL 5.6 cannot say it: the check after the write does.
            return {};
        }
    }

    void remove_unused(label_set const& labels) override
    {
        std::unique_ptr<sql_database> const database = open_to_write();
        if (!is_atomic()) {
            lock_tables(*database, "labels WRITE, tags_labels READ");
        }
        label_ids_.remove_unused(*database, labels);
    }

protected:
    abilities type_can() const override
    {
        abilities all{identity_fields, statistic_fields};
        all.has_label_spelling = !is_atomic();
        return all;
    }

    std::vector<track> read_tracks(sql_database& database) override
    {
        std::unordered_map<std::string, label_set> const labels = read_labels(database);
        std::vector<track> tracks;
        database.select(
            "SELECT t.deviceid, t.url, t.title, a.name, b.name, c.name, y.name, t.track,"
            " t.discnumber, s.rating, s.createdate, s.accessdate, s.playcounter FROM tags t"
            " JOIN artist a ON a.id = t.artist LEFT JOIN album b ON b.id = t.album"
            " LEFT JOIN composer c ON c.id = t.composer LEFT JOIN year y ON y.id = t.year"
            " LEFT JOIN statistics s"
            " ON s.url = t.url AND s.deviceid = t.deviceid AND s.deleted = 0",
            [&](sql_row const& row) {
                tracks.push_back(track_of(row));
                auto const found = labels.find(tracks.back().key);
                if (found != labels.end()) {
                    tracks.back().statistics.labels = found->second;
                }
            });
        return tracks;
    }

    /// prepare_write reads what writing has to find: servers do not all compare texts exactly.
    void prepare_write(sql_database& database, std::span<change const> changes) override
    {
        if (!is_atomic()) {
            lock_tables(
                database, "statistics WRITE, labels WRITE, tags_labels WRITE, tags READ,"
                          " uniqueid READ");
        }
        unique_ids_.clear();
        database.select("SELECT deviceid, url, uniqueid FROM uniqueid", [&](sql_row const& row) {
            unique_ids_[key_of(row.text(0), row.text(1))] = row.text(2);
        });
        label_ids_.prepare(database, changes);
    }

    void write_track(sql_database& database, change const& changed) override
    {
        file_name const file = name_of_key(changed.key);
        if (!(changed.changed - field::labels).empty()) {
            write_statistics(database, file, changed);
        }
        if (changed.changed.has(field::labels)) {
            write_labels(database, file, changed.after.labels);
        }
    }

private:
    static std::unordered_map<std::string, label_set> read_labels(sql_database& database)
    {
        std::unordered_map<std::string, label_set> labels;
        database.select(
            "SELECT t.deviceid, t.url, l.name FROM tags_labels t"
            " JOIN labels l ON l.id = t.labelid WHERE l.type = " +
                std::to_string(user_label),
            [&](sql_row const& row) {
                labels[key_of(row.text(0), row.text(1))].insert(row.text(2));
            });
        return labels;
    }

    static track track_of(sql_row const& row)
    {
        track one;
        one.key = key_of(row.text(0), row.text(1));
        // The year is a text, which the database converts.
        one.identity = identity_of(row, 2);
        one.statistics.rating = rating_in_range(row.real(9));
        one.statistics.first_played = date_of(row.number(10));
        one.statistics.last_played = date_of(row.number(11));
        one.statistics.play_count = std::max<std::int64_t>(row.number(12), 0);
        return one;
    }

    /// unique_id: Amarok's hash of the file, by which it finds statistics of files that were moved.
    sql_value unique_id(file_name const& file) const
    {
        auto const found = unique_ids_.find(key_of(std::to_string(file.device), file.url));
        return found == unique_ids_.end() ? sql_value() : sql_value(found->second);
    }

    /// free_unique_id: NULL where the row of a file that was moved or deleted has the id: no two
    /// may.
    sql_value free_unique_id(sql_database& database, file_name const& file) const
    {
        sql_value const id = unique_id(file);
        std::int64_t const found =
            database.execute("UPDATE statistics SET deleted = deleted WHERE uniqueid = ?", {id});
        return found == 0 ? id : sql_value();
    }

    void write_statistics(sql_database& database, file_name const& file, change const& changed)
    {
        statistics const& after = changed.after;
        std::vector<assignment> columns;
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
            columns.push_back({"playcounter", after.play_count});
        }
        std::int64_t const found = database.execute(
            "UPDATE statistics SET deleted = 0 WHERE url = ? AND deviceid = ?",
            {file.url, file.device});
        if (found == 0) {
            database.execute(
                "INSERT INTO statistics (url, deviceid, createdate, accessdate, percentage, rating,"
                " playcounter, uniqueid, deleted) SELECT url, deviceid, 0, 0, 0, 0, 0, ?, 0"
                " FROM tags WHERE url = ? AND deviceid = ?",
                {free_unique_id(database, file), file.url, file.device});
        }
        update_row(database, "statistics", columns, {{"url", file.url}, {"deviceid", file.device}});
    }

    /// write_labels inserts first: where it ends in the middle, no label is lost.
    void write_labels(sql_database& database, file_name const& file, label_set const& labels)
    {
        std::set<std::int64_t> const ids = label_ids_.of(labels);
        for (std::int64_t id : ids) {
            std::int64_t const found = database.execute(
                "UPDATE tags_labels SET labelid = labelid"
                " WHERE url = ? AND deviceid = ? AND labelid = ?",
                {file.url, file.device, id});
            if (found == 0) {
                database.execute(
                    "INSERT INTO tags_labels (deviceid, url, uniqueid, labelid)"
                    " VALUES (?, ?, ?, ?)",
                    {file.device, file.url, unique_id(file), id});
            }
        }
        std::vector<sql_value> values{file.url, file.device, user_label};
        std::string const condition = except(ids, "labelid", values);
        database.execute(
            "DELETE FROM tags_labels WHERE url = ? AND deviceid = ? AND labelid IN"
            " (SELECT id FROM labels WHERE type = ?)" +
                condition,
            values);
    }

    std::unordered_map<std::string, std::string> unique_ids_;
    label_ids label_ids_;
};

} // namespace

provider_type amarok_1_4_type()
{
    std::string const path = "~/.kde/share/apps/amarok/collection.db";
    return {
        "amarok-1.4",
        "Amarok 1.4",
        {{"path", "the database of SQLite", path}},
        {path, "~/.trinity/share/apps/amarok/collection.db"},
        [](instance configured) {
            std::unique_ptr<sql_store> store = sqlite_store(expanded(configured.setting("path")));
            return std::make_unique<amarok_1_4_provider>(std::move(configured), std::move(store));
        }};
}

provider_type amarok_1_4_server_type()
{
    return {
        "amarok-1.4-server",
        "Amarok 1.4 on a server",
        server_settings(),
        {},
        [](instance configured) {
            std::unique_ptr<sql_store> store = server_store(configured);
            return std::make_unique<amarok_1_4_provider>(std::move(configured), std::move(store));
        }};
}

} // namespace statsync
