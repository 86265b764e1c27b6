// amarok_1_4: Amarok 1.4, whose database is a file of SQLite, or on a server of MySQL.

#include "core/failure.hpp"
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

/// hex_of: a text for a literal that each database reads alike.
std::string hex_of(std::string const& text)
{
    std::string digits;
    for (char c : text) {
        unsigned const byte = static_cast<unsigned char>(c);
        digits += "0123456789ABCDEF"[byte / 16];
        digits += "0123456789ABCDEF"[byte % 16];
    }
    return digits;
}

class amarok_1_4_provider : public sql_provider
{
public:
    amarok_1_4_provider(instance configured, std::unique_ptr<sql_store> store)
        : sql_provider(std::move(configured), std::move(store), {"amarokapp", "amarok"})
    {
    }

protected:
    abilities type_can() const override { return {identity_fields, statistic_fields}; }

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
    static sql_value unique_id(sql_database& database, file_name const& file)
    {
        sql_value id;
        database.select(
            "SELECT uniqueid FROM uniqueid WHERE deviceid = " + std::to_string(file.device) +
                " AND url = CAST(X'" + hex_of(file.url) + "' AS CHAR)",
            [&](sql_row const& row) { id = row.text(0); });
        return id;
    }

    static void write_statistics(
        sql_database& database, file_name const& file, change const& changed)
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
                " playcounter, uniqueid, deleted) VALUES (?, ?, 0, 0, 0, 0, 0, ?, 0)",
                {file.url, file.device, unique_id(database, file)});
        }
        update_row(database, "statistics", columns, {{"url", file.url}, {"deviceid", file.device}});
    }

    static void write_labels(sql_database& database, file_name const& file, label_set const& labels)
    {
        sql_value const id = unique_id(database, file);
        database.execute(
            "DELETE FROM tags_labels WHERE url = ? AND deviceid = ? AND labelid IN"
            " (SELECT id FROM labels WHERE type = ?)",
            {file.url, file.device, user_label});
        for (std::string const& label : labels) {
            database.execute(
                "INSERT INTO labels (name, type) SELECT ?, ? WHERE NOT EXISTS"
                " (SELECT 1 FROM labels WHERE name = ? AND type = ?)",
                {label, user_label, label, user_label});
            database.execute(
                "INSERT INTO tags_labels (deviceid, url, uniqueid, labelid)"
                " SELECT ?, ?, ?, MIN(id) FROM labels WHERE name = ? AND type = ?",
                {file.device, file.url, id, label, user_label});
        }
    }
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
