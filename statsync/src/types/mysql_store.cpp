#include "core/failure.hpp"
#include "provider/registry.hpp"
#include "store/mysql_server.hpp"
#include "types/mysql_store.hpp"

#include <charconv>

namespace statsync {
namespace {

namespace fs = std::filesystem;

/// served_data: a server, and the copy that it serves, if it does not serve the data itself.
struct served_data
{
    std::unique_ptr<temporary_folder> copy;
    mysql_server server;
};

std::unique_ptr<sql_database> served_database(
    std::unique_ptr<temporary_folder> copy, fs::path const& data, std::string name)
{
    std::shared_ptr<served_data> served(new served_data{std::move(copy), mysql_server(data)});
    mysql_address address = served->server.address();
    address.database = std::move(name);
    return std::make_unique<dependent_database>(std::move(served), open_mysql(address));
}

class data_folder : public sql_store
{
public:
    data_folder(fs::path folder, std::string database)
        : folder_(std::move(folder)), database_(std::move(database))
    {
    }

    std::unique_ptr<sql_database> open_to_read() override
    {
        if (!fs::is_directory(folder_)) {
            throw failure(problem::unread, folder_.string() + ": there is no such folder");
        }
        std::unique_ptr<temporary_folder> copy = std::make_unique<temporary_folder>();
        fs::copy(folder_, *copy / "data", fs::copy_options::recursive);
        fs::path const data = *copy / "data";
        return served_database(std::move(copy), data, database_);
    }

    std::unique_ptr<sql_database> open_to_write() override
    {
        return served_database(nullptr, folder_, database_);
    }

    /// files: the tables that are read and written.
    std::vector<fs::path> files() const override
    {
        std::vector<fs::path> files;
        for (char const* table : {"statistics", "labels", "urls_labels", "tracks", "urls"}) {
            files.push_back(folder_ / database_ / (std::string(table) + ".MYD"));
        }
        return files;
    }

    bool is_atomic() const override { return false; }

    void back_up(fs::path const& folder) override
    {
        fs::create_directories(folder);
        fs::copy(folder_, folder / "data", fs::copy_options::recursive);
    }

    /// The values go back one by one: a folder cannot be replaced in one step.
    bool can_restore() const override { return false; }
    void restore(fs::path const&) override {}

private:
    fs::path folder_;
    std::string database_;
};

class server : public sql_store
{
public:
    explicit server(instance configured) : configured_(std::move(configured)) {}

    std::unique_ptr<sql_database> open_to_read() override { return open_mysql(address()); }
    std::unique_ptr<sql_database> open_to_write() override { return open_mysql(address()); }
    std::vector<fs::path> files() const override { return {}; }
    bool is_atomic() const override { return false; }
    bool can_restore() const override { return false; }
    void back_up(fs::path const&) override {}
    void restore(fs::path const&) override {}

private:
    mysql_address address() const
    {
        std::string const port = configured_.setting("port");
        unsigned number = 0;
        std::from_chars_result const read =
            std::from_chars(port.data(), port.data() + port.size(), number);
        if (read.ec != std::errc() || read.ptr != port.data() + port.size() || number > 65535) {
            throw failure(problem::settings, "port is no port: " + port);
        }
        return {configured_.setting("host"),   number,
                configured_.setting("socket"), configured_.setting("user"),
                secret(configured_),           configured_.setting("database")};
    }

    instance configured_;
};

} // namespace

std::vector<setting_description> server_settings()
{
    return {
        {"host", "the server", "localhost"},
        {"port", "its port", "3306"},
        {"socket", "its socket, instead of host and port"},
        {"user", "a user of the server", "amarokuser"},
        {"password-file", "a file with the password in its first line"},
        {"password-env", "the environment variable with the password"},
        {"database", "the database's name", "amarokdb"}};
}

void lock_tables(sql_database& database, std::string const& locks)
{
    bool has_transactions = false;
    database.select(
        "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND"
        " table_name = 'statistics'",
        [&](sql_row const& row) { has_transactions = row.text(0) == "InnoDB"; });
    if (!has_transactions) {
        database.execute("LOCK TABLES " + locks);
    }
}

std::unique_ptr<sql_store> server_store(instance const& configured)
{
    return std::make_unique<server>(configured);
}

std::unique_ptr<sql_store> folder_store(fs::path folder, std::string database)
{
    return std::make_unique<data_folder>(std::move(folder), std::move(database));
}

} // namespace statsync
