// label_ids: ids of labels in the table in which Amarok keeps them.

#pragma once

#include "provider/provider.hpp"
#include "store/sql.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace statsync {

/// label_table: how a version of Amarok names the parts of its table `labels`.
struct label_table
{
    std::string column;    ///< Of the label's text.
    std::string condition; ///< Of labels that a user gives.
    std::string insert;    ///< The statement that adds one; its only parameter is the text.
    std::string uses;      ///< The table that says which tracks have a label,
    std::string use;       ///< and its column with the label's id.
    bool is_on_server;     ///< Of MySQL: one whose collation says which texts are equal.
};

/// label_ids: made of a table, then filled by prepare before a write.
class label_ids
{
public:
    explicit label_ids(label_table table) : table_(std::move(table)) {}

    /// prepare finds the ids of all labels of the changes, and inserts labels that are missing.
    /// Throws failure(problem::unwritten) at one that the database cannot hold. Nothing is changed
    /// then: without transactions it would stay so.
    void prepare(sql_database& database, std::span<change const> changes);

    /// remove_unused removes those of the labels that no track has.
    void remove_unused(sql_database& database, label_set const& labels);

    /// of: ids of labels that were prepared. Two labels that are equal on the server have one id.
    std::set<std::int64_t> of(label_set const& labels) const;

private:
    void read(sql_database& database);
    void add_missing(sql_database& database, std::span<change const> changes);
    void remove_added(sql_database& database);
    std::int64_t inserted(sql_database& database, std::string const& label);
    std::optional<std::int64_t> equal_on_server(
        sql_database& database, std::string const& label) const;

    label_table table_;
    std::unordered_map<std::string, std::int64_t> ids_;
    std::vector<std::int64_t> added_; ///< Ids of rows that prepare inserted.
};

/// spelling_on_server: how a server of Amarok 1.4 spells labels. Its collation says which are
/// equal; of those it has the one in its table, or will have the first that it gets.
label_spelling spelling_on_server(sql_database& database, label_set const& labels);

/// except: the end of a condition that leaves rows of these ids alone. It adds its parameters.
std::string except(
    std::set<std::int64_t> const& ids, std::string const& column, std::vector<sql_value>& values);

} // namespace statsync
