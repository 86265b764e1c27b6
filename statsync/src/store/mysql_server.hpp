// mysql_server: a private server of MariaDB for one data directory.

#pragma once

#include "store/mysql.hpp"
#include "store/temporary_folder.hpp"

#include <filesystem>

#include <sys/types.h>

namespace statsync {

/// mysql_server: a child process that listens on a socket in a private folder, and on no port. The
/// constructor returns when it answers, and throws failure(problem::unread) when it ends before
/// that, or is silent for 60 s. The destructor ends it with SIGTERM and waits for it, however long
/// that takes: a server that is killed while it writes loses tables. Where this process, or the
/// thread that called the constructor, ends without it, the kernel sends the SIGTERM.
class mysql_server
{
public:
    explicit mysql_server(std::filesystem::path const& data);
    mysql_server(mysql_server const&) = delete;
    mysql_server& operator=(mysql_server const&) = delete;
    ~mysql_server();

    /// address: for its only user, without a database.
    mysql_address address() const;

    /// program: the path of the server's program; empty if there is none on this machine.
    static std::filesystem::path program();

private:
    void start(std::filesystem::path const& data);
    void wait_until_it_answers();
    void end();

    temporary_folder folder_;
    pid_t process_ = -1;
};

} // namespace statsync
