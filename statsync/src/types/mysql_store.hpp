// mysql_store: where Amarok's databases of MySQL are.

#pragma once

#include "provider/type.hpp"
#include "types/sql_provider.hpp"

namespace statsync {

/// server_settings: settings of a type whose database is on a server.
std::vector<setting_description> server_settings();

/// lock_tables keeps other programs out of tables without transactions, until the connection ends.
/// The table statistics says whether there are transactions. `locks` is as LOCK TABLES takes it.
void lock_tables(sql_database& database, std::string const& locks);

/// server_store: a database on a server that runs. Its backup is the record of a run.
std::unique_ptr<sql_store> server_store(instance const& configured);

/// folder_store: a data directory, which a private server serves while it is used. Reading serves a
/// copy, so that a player may run meanwhile.
std::unique_ptr<sql_store> folder_store(std::filesystem::path folder, std::string database);

} // namespace statsync
