// sql: what the SQL databases of players have in common.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace statsync {

/// sql_value: a parameter of a statement. The empty one is NULL.
using sql_value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// sql_row: a row of a result. NULL reads as an empty text and as 0.
class sql_row
{
public:
    virtual ~sql_row() = default;
    virtual bool is_null(int column) const = 0;
    virtual std::string text(int column) const = 0;
    virtual std::int64_t number(int column) const = 0;
    virtual double real(int column) const = 0;
};

/// sql_database: an open database. All functions throw a failure with the database's own message.
/// A transaction that is not committed is rolled back when the database is closed.
class sql_database
{
public:
    virtual ~sql_database() = default;

    virtual void select(
        std::string const& sql, std::function<void(sql_row const&)> const& each) = 0;

    /// execute runs a statement with a value for each ? in it, and returns how many rows it found.
    virtual std::int64_t execute(
        std::string const& sql, std::vector<sql_value> const& values = {}) = 0;

    virtual void begin() = 0;
    virtual void commit() = 0;
};

/// dependent_database: a database that needs something for as long as it is open: a copy of its
/// files, or a server. The database closes first.
class dependent_database : public sql_database
{
public:
    dependent_database(std::shared_ptr<void> needed, std::unique_ptr<sql_database> database)
        : needed_(std::move(needed)), database_(std::move(database))
    {
    }

    void select(std::string const& sql, std::function<void(sql_row const&)> const& each) override
    {
        database_->select(sql, each);
    }
    std::int64_t execute(std::string const& sql, std::vector<sql_value> const& values) override
    {
        return database_->execute(sql, values);
    }
    void begin() override { database_->begin(); }
    void commit() override { database_->commit(); }

private:
    std::shared_ptr<void> needed_;
    std::unique_ptr<sql_database> database_;
};

} // namespace statsync
