// sqlite: a database of SQLite.

#pragma once

#include "store/sql.hpp"

#include <filesystem>
#include <map>

struct sqlite3;
struct sqlite3_stmt;

namespace statsync {

class sqlite_database : public sql_database
{
public:
    enum class access
    {
        read,   ///< Never changes the file, nor files beside it that matter.
        write,  ///< Waits up to 5 s for other programs.
        create, ///< Makes the file if it is not there.
    };

    sqlite_database(std::filesystem::path const& file, access how);
    sqlite_database(sqlite_database const&) = delete;
    sqlite_database& operator=(sqlite_database const&) = delete;
    ~sqlite_database() override;

    void select(std::string const& sql, std::function<void(sql_row const&)> const& each) override;
    std::int64_t execute(std::string const& sql, std::vector<sql_value> const& values) override;
    using sql_database::execute;

    /// begin takes the lock for writing at once.
    void begin() override;
    void commit() override;

    /// run executes several statements without values.
    void run(std::string const& sql);

    /// copy_to replaces the content of another database by this one's, in one transaction.
    void copy_to(sqlite_database& other);

private:
    void require(int result, bool is_write) const;
    sqlite3_stmt* prepared(std::string const& sql);

    std::string name_;
    bool is_writable_;
    sqlite3* database_ = nullptr;
    std::map<std::string, sqlite3_stmt*> statements_;
};

} // namespace statsync
