#include "core/failure.hpp"
#include "core/text.hpp"
#include "store/sqlite.hpp"
#include "store/temporary_folder.hpp"
#include "types/sql_provider.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace statsync {
namespace {

namespace fs = std::filesystem;

/// real_file: SQLite keeps its log beside the file that a link points to.
fs::path real_file(fs::path const& file)
{
    std::error_code error;
    fs::path const real = fs::canonical(file, error);
    return error ? file : real;
}

/// copied_database: the database, read from a copy of its files.
std::unique_ptr<sql_database> copied_database(fs::path const& file)
{
    auto folder = std::make_shared<temporary_folder>();
    for (char const* suffix : {"", "-wal", "-journal"}) {
        fs::path const part = file.string() + suffix;
        if (fs::exists(part)) {
            fs::copy_file(part, *folder / ("copy" + std::string(suffix)));
        }
    }
    auto database =
        std::make_unique<sqlite_database>(*folder / "copy", sqlite_database::access::write);
    return std::make_unique<dependent_database>(std::move(folder), std::move(database));
}

class sqlite_file : public sql_store
{
public:
    explicit sqlite_file(fs::path const& file) : file_(real_file(file)) {}

    std::unique_ptr<sql_database> open_to_read() override
    {
        if (!fs::is_regular_file(file_)) {
            throw failure(problem::unread, file_.string() + ": there is no such file");
        }
        // A log that a player left, or a folder that is not writable: SQLite would write there.
        if (!has_log()) {
            try {
                return opened_in_place();
            } catch (failure const&) {
                return copied_database(file_);
            }
        }
        return copied_database(file_);
    }

    std::unique_ptr<sql_database> open_to_write() override
    {
        return std::make_unique<sqlite_database>(file_, sqlite_database::access::write);
    }

    std::vector<fs::path> files() const override { return {file_, file_.string() + "-wal"}; }
    bool is_atomic() const override { return true; }

    void back_up(fs::path const& folder) override
    {
        fs::create_directories(folder);
        sqlite_database from(file_, sqlite_database::access::write);
        sqlite_database to(folder / file_.filename(), sqlite_database::access::create);
        from.copy_to(to);
    }

    void restore(fs::path const& folder) override
    {
        sqlite_database from(folder / file_.filename(), sqlite_database::access::read);
        sqlite_database to(file_, sqlite_database::access::write);
        from.copy_to(to);
    }

private:
    std::unique_ptr<sql_database> opened_in_place() const
    {
        std::unique_ptr<sql_database> database =
            std::make_unique<sqlite_database>(file_, sqlite_database::access::read);
        database->select("SELECT 1 FROM sqlite_master LIMIT 1", [](sql_row const&) {});
        return database;
    }

    bool has_log() const
    {
        auto const is_full = [&](char const* suffix) {
            return state_of(file_.string() + suffix).size > 0;
        };
        return is_full("-wal") || is_full("-journal");
    }

    fs::path file_;
};

} // namespace

std::unique_ptr<sql_store> sqlite_store(fs::path const& file)
{
    return std::make_unique<sqlite_file>(file);
}

std::vector<track> sql_provider::read()
{
    std::unique_ptr<sql_database> const database = store_->open_to_read();
    return read_tracks(*database);
}

void sql_provider::write_changes(std::span<change const> changes)
{
    std::unique_ptr<sql_database> const database = store_->open_to_write();
    database->begin();
    prepare_write(*database, changes);
    std::size_t count = 0;
    for (change const& one : changes) {
        write_track(*database, one);
        wrote(++count);
    }
    database->commit();
}

void update_row(
    sql_database& database, std::string const& table, std::vector<assignment> const& columns,
    std::vector<assignment> const& condition)
{
    if (columns.empty()) {
        return;
    }
    std::string sql = "UPDATE " + table + " SET ";
    std::vector<sql_value> values;
    for (assignment const& one : columns) {
        sql += (values.empty() ? "" : ", ") + one.column + " = ?";
        values.push_back(one.value);
    }
    std::string word = " WHERE ";
    for (assignment const& one : condition) {
        sql += word + one.column + " = ?";
        word = " AND ";
        values.push_back(one.value);
    }
    if (database.execute(sql, values) != 1) {
        throw failure(problem::unwritten, table + ": the row of a track is gone");
    }
}

std::string text_literal(std::string_view text)
{
    std::string literal = "CAST(X'";
    for (char c : text) {
        unsigned const byte = static_cast<unsigned char>(c);
        literal += "0123456789ABCDEF"[byte / 16];
        literal += "0123456789ABCDEF"[byte % 16];
    }
    return literal + "' AS CHAR)";
}

std::int64_t key_number(change const& changed)
{
    std::int64_t number = 0;
    char const* const end = changed.key.data() + changed.key.size();
    std::from_chars_result const read = std::from_chars(changed.key.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) {
        throw failure(problem::unwritten, "a track's key is no number: " + changed.key);
    }
    return number;
}

identity identity_of(sql_row const& row, int first)
{
    auto const text = [&](int place) { return std::string(trimmed(row.text(first + place))); };
    auto const number = [&](int place) {
        return static_cast<int>(std::max<std::int64_t>(row.number(first + place), 0));
    };
    return {text(0), text(1), text(2), text(3), number(4), number(5), number(6)};
}

time_stamp date_of(std::int64_t seconds)
{
    return seconds > 0 ? time_stamp(seconds) : std::nullopt;
}

int rating_in_range(double rating)
{
    if (!(rating > 0)) {
        return 0;
    }
    return static_cast<int>(std::lround(std::min(rating, double{rating_max})));
}

} // namespace statsync
