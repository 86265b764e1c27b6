#include "core/failure.hpp"
#include "types/label_ids.hpp"
#include "types/sql_provider.hpp"

#include <map>

namespace statsync {

void label_ids::prepare(sql_database& database, std::span<change const> changes)
{
    read(database);
    added_.clear();
    try {
        add_missing(database, changes);
    } catch (...) {
        remove_added(database);
        throw;
    }
}

void label_ids::add_missing(sql_database& database, std::span<change const> changes)
{
    for (change const& one : changes) {
        if (!one.changed.has(field::labels)) {
            continue;
        }
        for (std::string const& label : one.after.labels) {
            if (!ids_.contains(label)) {
                std::int64_t const id = inserted(database, label);
                ids_[label] = id;
            }
        }
    }
}

void label_ids::remove_added(sql_database& database)
{
    try {
        for (std::int64_t id : added_) {
            database.execute("DELETE FROM labels WHERE id = ?", {id});
        }
    } catch (failure const&) {
        // Then the server is gone; why it is says the error of the insertion.
    }
}

void label_ids::remove_unused(sql_database& database, label_set const& labels)
{
    read(database);
    for (std::string const& label : labels) {
        if (auto const found = ids_.find(label); found != ids_.end()) {
            database.execute(
                "DELETE FROM labels WHERE id = ? AND NOT EXISTS (SELECT 1 FROM " + table_.uses +
                    " WHERE " + table_.uses + "." + table_.use + " = ?)",
                {found->second, found->second});
        }
    }
}

std::set<std::int64_t> label_ids::of(label_set const& labels) const
{
    std::set<std::int64_t> ids;
    for (std::string const& label : labels) {
        ids.insert(ids_.at(label));
    }
    return ids;
}

void label_ids::read(sql_database& database)
{
    ids_.clear();
    database.select(
        "SELECT " + table_.column + ", id FROM labels WHERE " + table_.condition,
        [&](sql_row const& row) { ids_.try_emplace(row.text(0), row.number(1)); });
}

std::int64_t label_ids::inserted(sql_database& database, std::string const& label)
{
    try {
        database.execute(table_.insert, {label});
    } catch (failure const& error) {
        std::optional<std::int64_t> const equal =
            table_.is_on_server ? equal_on_server(database, label) : std::nullopt;
        if (!equal) {
            throw failure(
                problem::unwritten, "the label '" + label + "' cannot be stored: " + error.what() +
                                        "; --exclude-label leaves it alone");
        }
        return *equal;
    }
    std::int64_t id = 0;
    database.select(
        table_.is_on_server ? "SELECT LAST_INSERT_ID()" : "SELECT last_insert_rowid()",
        [&](sql_row const& row) { id = row.number(0); });
    added_.push_back(id);
    return id;
}

/// equal_on_server: 'cs' for 'Cs', and 'Cafe' for 'Café', where the collation says so. The text is
/// a parameter, because the server compares a literal's cast by another collation than the
/// column's.
std::optional<std::int64_t> label_ids::equal_on_server(
    sql_database& database, std::string const& label) const
{
    std::optional<std::int64_t> id;
    try {
        std::int64_t const count = database.execute(
            "UPDATE labels SET id = LAST_INSERT_ID(id) WHERE " + table_.column + " = ? AND " +
                table_.condition,
            {label});
        if (count > 0) {
            database.select(
                "SELECT LAST_INSERT_ID()", [&](sql_row const& row) { id = row.number(0); });
        }
    } catch (failure const&) {
        // The server cannot even compare the text; then the error of the insertion says why.
    }
    return id;
}

label_spelling spelling_on_server(sql_database& database, label_set const& labels)
{
    std::string set;
    std::string collation;
    database.select(
        "SELECT character_set_name, collation_name FROM information_schema.columns WHERE"
        " table_schema = DATABASE() AND table_name = 'labels' AND column_name = 'name'",
        [&](sql_row const& row) {
            set = row.text(0);
            collation = row.text(1);
        });
    // Texts that are equal have one weight. Blanks at the end count for nothing.
    std::map<std::string, std::string> first_of_weight;
    database.select(
        "SELECT HEX(WEIGHT_STRING(RTRIM(name))), name FROM labels WHERE type = 1",
        [&](sql_row const& row) { first_of_weight.try_emplace(row.text(0), row.text(1)); });
    label_spelling own;
    for (std::string const& label : labels) {
        std::string const text = "CONVERT(" + text_literal(label) + " USING " + set + ")";
        database.select(
            "SELECT HEX(WEIGHT_STRING(RTRIM(" + text + " COLLATE " + collation + "))), CONVERT(" +
                text + " USING utf8mb4)",
            [&](sql_row const& row) {
                // A label that the column cannot hold is none of its labels.
                if (row.text(1) == label) {
                    std::string const& first =
                        first_of_weight.try_emplace(row.text(0), label).first->second;
                    if (first != label) {
                        own[label] = first;
                    }
                }
            });
    }
    return own;
}

std::string except(
    std::set<std::int64_t> const& ids, std::string const& column, std::vector<sql_value>& values)
{
    if (ids.empty()) {
        return "";
    }
    std::string sql;
    for (std::int64_t id : ids) {
        sql += sql.empty() ? "?" : ", ?";
        values.push_back(id);
    }
    return " AND " + column + " NOT IN (" + sql + ")";
}

} // namespace statsync
