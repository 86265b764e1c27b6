// mysql: a database of MariaDB or MySQL.

#pragma once

#include "store/sql.hpp"

#include <memory>

namespace statsync {

/// mysql_address: where a server listens. With a socket, host and port mean nothing.
struct mysql_address
{
    std::string host;
    unsigned port = 3306;
    std::string socket = {};
    std::string user;
    std::string password = {};
    std::string database;
};

/// open_mysql connects, or throws failure(problem::unread). The text does not have the password.
std::unique_ptr<sql_database> open_mysql(mysql_address const& address);

} // namespace statsync
