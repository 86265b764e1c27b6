#include "core/failure.hpp"
#include "store/sqlite.hpp"

#include <sqlite3.h>

namespace statsync {
namespace {

constexpr int busy_timeout_ms = 5000;

class sqlite_row : public sql_row
{
public:
    explicit sqlite_row(sqlite3_stmt* statement) : statement_(statement) {}

    bool is_null(int column) const override
    {
        return sqlite3_column_type(statement_, column) == SQLITE_NULL;
    }
    std::string text(int column) const override
    {
        void const* const bytes = sqlite3_column_blob(statement_, column);
        int const size = sqlite3_column_bytes(statement_, column);
        return bytes == nullptr
                   ? std::string()
                   : std::string(static_cast<char const*>(bytes), static_cast<std::size_t>(size));
    }
    std::int64_t number(int column) const override
    {
        return sqlite3_column_int64(statement_, column);
    }
    double real(int column) const override { return sqlite3_column_double(statement_, column); }

private:
    sqlite3_stmt* statement_;
};

int bind(sqlite3_stmt* statement, int place, sql_value const& value)
{
    if (std::int64_t const* number = std::get_if<std::int64_t>(&value)) {
        return sqlite3_bind_int64(statement, place, *number);
    }
    if (double const* real = std::get_if<double>(&value)) {
        return sqlite3_bind_double(statement, place, *real);
    }
    if (std::string const* text = std::get_if<std::string>(&value)) {
        return sqlite3_bind_text(
            statement, place, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
    }
    return sqlite3_bind_null(statement, place);
}

/// run_once resets a statement when it has run, so that it holds no lock.
class run_once
{
public:
    explicit run_once(sqlite3_stmt* statement) : statement_(statement) {}
    run_once(run_once const&) = delete;
    run_once& operator=(run_once const&) = delete;
    ~run_once() { sqlite3_reset(statement_); }

    int step() { return sqlite3_step(statement_); }

private:
    sqlite3_stmt* statement_;
};

} // namespace

sqlite_database::sqlite_database(std::filesystem::path const& file, access how)
    : name_(file.string()), is_writable_(how != access::read)
{
    int const flags = how == access::read    ? SQLITE_OPEN_READONLY
                      : how == access::write ? SQLITE_OPEN_READWRITE
                                             : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int const result = sqlite3_open_v2(name_.c_str(), &database_, flags, nullptr);
    if (result != SQLITE_OK) {
        std::string const text = name_ + ": " + sqlite3_errstr(result);
        sqlite3_close(database_);
        throw failure(problem::unread, text);
    }
    sqlite3_busy_timeout(database_, busy_timeout_ms);
}

sqlite_database::~sqlite_database()
{
    for (auto const& [sql, statement] : statements_) {
        sqlite3_finalize(statement);
    }
    sqlite3_close(database_); // Rolls back what is not committed.
}

void sqlite_database::select(
    std::string const& sql, std::function<void(sql_row const&)> const& each)
{
    run_once run(prepared(sql));
    sqlite_row const row(prepared(sql));
    for (;;) {
        int const result = run.step();
        if (result == SQLITE_DONE) {
            return;
        }
        require(result == SQLITE_ROW ? SQLITE_OK : result, false);
        each(row);
    }
}

std::int64_t sqlite_database::execute(std::string const& sql, std::vector<sql_value> const& values)
{
    sqlite3_stmt* const statement = prepared(sql);
    run_once run(statement);
    for (std::size_t i = 0; i < values.size(); ++i) {
        require(bind(statement, static_cast<int>(i) + 1, values[i]), true);
    }
    int const result = run.step();
    require(result == SQLITE_DONE || result == SQLITE_ROW ? SQLITE_OK : result, true);
    return sqlite3_changes(database_);
}

void sqlite_database::begin()
{
    run("BEGIN IMMEDIATE");
}

void sqlite_database::commit()
{
    run("COMMIT");
}

void sqlite_database::run(std::string const& sql)
{
    require(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), true);
}

void sqlite_database::copy_to(sqlite_database& other)
{
    sqlite3_backup* const copy = sqlite3_backup_init(other.database_, "main", database_, "main");
    if (copy == nullptr) {
        other.require(sqlite3_errcode(other.database_), true);
    }
    int const result = sqlite3_backup_step(copy, -1);
    sqlite3_backup_finish(copy);
    other.require(result == SQLITE_DONE ? SQLITE_OK : result, true);
}

void sqlite_database::require(int result, bool is_write) const
{
    if (result == SQLITE_OK) {
        return;
    }
    problem const kind = result == SQLITE_BUSY      ? problem::in_use
                         : is_write && is_writable_ ? problem::unwritten
                                                    : problem::unread;
    bool const has_text = sqlite3_errcode(database_) == result;
    throw failure(
        kind, name_ + ": " + (has_text ? sqlite3_errmsg(database_) : sqlite3_errstr(result)));
}

sqlite3_stmt* sqlite_database::prepared(std::string const& sql)
{
    auto const [entry, is_new] = statements_.try_emplace(sql, nullptr);
    if (is_new) {
        int const size = static_cast<int>(sql.size());
        int const result = sqlite3_prepare_v2(database_, sql.data(), size, &entry->second, nullptr);
        if (result != SQLITE_OK) {
            statements_.erase(entry);
            require(result, false);
        }
    }
    return entry->second;
}

} // namespace statsync
