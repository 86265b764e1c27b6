// sql_provider: a provider whose player keeps its statistics in an SQL database.

#pragma once

#include "provider/provider.hpp"
#include "store/sql.hpp"

#include <memory>

namespace statsync {

/// sql_store: where an SQL database is, and how it is opened and kept.
class sql_store
{
public:
    virtual ~sql_store() = default;

    virtual std::unique_ptr<sql_database> open_to_read() = 0;
    virtual std::unique_ptr<sql_database> open_to_write() = 0;
    virtual std::vector<std::filesystem::path> files() const = 0;
    virtual bool is_atomic() const = 0;
    virtual void back_up(std::filesystem::path const& folder) = 0;
    virtual void restore(std::filesystem::path const& folder) = 0;
    virtual bool can_restore() const { return true; }
};

/// sqlite_store: a file of SQLite. It is read without writing to its folder, written in one
/// transaction, and backed up as SQLite does it: complete, though the player may have left a log.
std::unique_ptr<sql_store> sqlite_store(std::filesystem::path const& file);

/// sql_provider: a type says how tracks are read, and how one track is changed.
class sql_provider : public provider
{
public:
    sql_provider(
        instance configured, std::unique_ptr<sql_store> store, std::vector<std::string> players)
        : provider(std::move(configured)), store_(std::move(store)), players_(std::move(players))
    {
    }

    places where() const override { return {store_->files(), players_}; }
    bool is_atomic() const override { return store_->is_atomic(); }
    bool can_restore() const override { return store_->can_restore(); }
    void back_up(std::filesystem::path const& folder) override { store_->back_up(folder); }
    void restore(std::filesystem::path const& folder) override { store_->restore(folder); }

protected:
    virtual std::vector<track> read_tracks(sql_database& database) = 0;
    virtual void write_track(sql_database& database, change const& changed) = 0;
    /// prepare_write is called once, before the first track.
    virtual void prepare_write(sql_database&, std::span<change const>) {}

    std::unique_ptr<sql_database> open_to_read() const { return store_->open_to_read(); }
    std::unique_ptr<sql_database> open_to_write() const { return store_->open_to_write(); }

    std::vector<track> read() override;
    void write_changes(std::span<change const> changes) override;

private:
    std::unique_ptr<sql_store> store_;
    std::vector<std::string> players_;
};

/// assignment: column = value, in an UPDATE.
struct assignment
{
    std::string column;
    sql_value value;
};

/// update_row sets columns of the one row that the condition finds, a column and its value. Throws
/// failure(problem::unwritten) if there is no such row, or more than one.
void update_row(
    sql_database& database, std::string const& table, std::vector<assignment> const& columns,
    std::vector<assignment> const& condition);

/// text_literal: a text in a statement without parameters, which each database reads alike.
std::string text_literal(std::string_view text);

/// key_number: a track's key that is a number.
std::int64_t key_number(change const& changed);

/// identity_of reads the seven columns from `first` on, in the order of identity's members.
/// Texts are trimmed, and a number below 0 is unknown.
identity identity_of(sql_row const& row, int first);

/// date_of: a time stamp of a database in which 0 and less are no date.
time_stamp date_of(std::int64_t seconds);

/// rating_in_range: 0 to rating_max, whatever a database holds.
int rating_in_range(double rating);

} // namespace statsync
