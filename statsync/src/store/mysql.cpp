#include "core/failure.hpp"
#include "store/mysql.hpp"

#include <charconv>
#include <cstdlib>

#include <mysql.h>

namespace statsync {
namespace {

constexpr unsigned connect_timeout_s = 10;

/// mysql_text_row: a row as the server sends it, in texts.
class mysql_text_row : public sql_row
{
public:
    mysql_text_row(MYSQL_ROW values, unsigned long const* sizes) : values_(values), sizes_(sizes) {}

    bool is_null(int column) const override { return values_[column] == nullptr; }
    std::string text(int column) const override
    {
        return is_null(column) ? std::string() : std::string(values_[column], sizes_[column]);
    }
    std::int64_t number(int column) const override
    {
        return is_null(column) ? 0 : std::strtoll(values_[column], nullptr, 10);
    }
    double real(int column) const override
    {
        std::string const value = text(column);
        double number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        return number;
    }

private:
    MYSQL_ROW values_;
    unsigned long const* sizes_;
};

/// parameters: values as the client library wants them. It must stay until the statement has run.
class parameters
{
public:
    explicit parameters(std::vector<sql_value> const& values) : values_(values)
    {
        binds_.resize(values_.size());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            bind(binds_[i], values_[i]);
        }
    }

    MYSQL_BIND* data() { return binds_.data(); }

private:
    static void bind(MYSQL_BIND& place, sql_value& value)
    {
        if (std::int64_t* number = std::get_if<std::int64_t>(&value)) {
            place.buffer_type = MYSQL_TYPE_LONGLONG;
            place.buffer = number;
        } else if (double* real = std::get_if<double>(&value)) {
            place.buffer_type = MYSQL_TYPE_DOUBLE;
            place.buffer = real;
        } else if (std::string* text = std::get_if<std::string>(&value)) {
            place.buffer_type = MYSQL_TYPE_STRING;
            place.buffer = text->data();
            place.buffer_length = text->size();
        } else {
            place.buffer_type = MYSQL_TYPE_NULL;
        }
    }

    std::vector<sql_value> values_;
    std::vector<MYSQL_BIND> binds_;
};

using result_set = std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)>;
using statement = std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)>;

class mysql_database : public sql_database
{
public:
    explicit mysql_database(mysql_address const& address)
        : name_("database " + address.database), connection_(mysql_init(nullptr), &mysql_close)
    {
        MYSQL* const raw = connection_.get();
        mysql_options(raw, MYSQL_SET_CHARSET_NAME, "utf8mb4");
        mysql_options(raw, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout_s);
        // No server may ask for a file of this machine.
        unsigned const no_files = 0;
        mysql_options(raw, MYSQL_OPT_LOCAL_INFILE, &no_files);
        char const* const socket = address.socket.empty() ? nullptr : address.socket.c_str();
        // An UPDATE then counts the rows that it found, and not only those that it changed.
        MYSQL* const connected = mysql_real_connect(
            raw, address.host.c_str(), address.user.c_str(), address.password.c_str(),
            address.database.c_str(), address.port, socket, CLIENT_FOUND_ROWS);
        if (connected == nullptr) {
            fail(problem::unread, mysql_error(raw));
        }
        // A text that does not fit is an error then, whatever the server is set to, and not
        // altered.
        run("SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", problem::unread);
    }

    void select(std::string const& sql, std::function<void(sql_row const&)> const& each) override
    {
        run(sql, problem::unread);
        result_set const rows(mysql_store_result(connection_.get()), &mysql_free_result);
        if (!rows) {
            fail(problem::unread, mysql_error(connection_.get()));
        }
        while (MYSQL_ROW const row = mysql_fetch_row(rows.get())) {
            each(mysql_text_row(row, mysql_fetch_lengths(rows.get())));
        }
    }

    std::int64_t execute(std::string const& sql, std::vector<sql_value> const& values) override
    {
        statement const made(mysql_stmt_init(connection_.get()), &mysql_stmt_close);
        parameters bound(values);
        if (mysql_stmt_prepare(made.get(), sql.data(), sql.size()) != 0 ||
            (!values.empty() && mysql_stmt_bind_param(made.get(), bound.data())) ||
            mysql_stmt_execute(made.get()) != 0) {
            fail(problem::unwritten, mysql_stmt_error(made.get()));
        }
        return static_cast<std::int64_t>(mysql_stmt_affected_rows(made.get()));
    }

    void begin() override { run("START TRANSACTION", problem::unwritten); }
    void commit() override { run("COMMIT", problem::unwritten); }

private:
    void run(std::string const& sql, problem kind)
    {
        if (mysql_real_query(connection_.get(), sql.data(), sql.size()) != 0) {
            fail(kind, mysql_error(connection_.get()));
        }
    }

    [[noreturn]] void fail(problem kind, std::string const& text) const
    {
        throw failure(kind, name_ + ": " + text);
    }

    std::string name_;
    std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

} // namespace

std::unique_ptr<sql_database> open_mysql(mysql_address const& address)
{
    return std::make_unique<mysql_database>(address);
}

} // namespace statsync
