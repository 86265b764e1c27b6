#include "process/admin_socket.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/socket.h>
#include <sys/stat.h>

namespace cleat::app::admin_socket_test {
namespace {

struct a_path
{
    temporary_folder folder;
    std::string path = (std::filesystem::path{folder.path()} / "admin.sock").string();
    admin_address where{unix_path{path}};

    [[nodiscard]] bool exists() const { return std::filesystem::exists(path); }
};

bool can_connect(net::address const& where)
{
    unique_fd const fd{::socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return ::connect(fd.get(), where.data(), where.size) == 0;
}

// A file that nothing listens on, as a process that was killed leaves it.
void leave_stale_socket(std::string const& path)
{
    unique_fd const fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    net::address const address = net::unix_address(path).value();
    REQUIRE(::bind(fd.get(), address.data(), address.size) == 0);
}

} // namespace

TEST_CASE("a UNIX socket is its owner's alone, and is removed at the end")
{
    a_path const at;
    {
        result<admin_socket> const opened = admin_socket::open(at.where);
        REQUIRE(opened.has_value());
        struct stat about
        {
        };
        REQUIRE(::stat(at.path.c_str(), &about) == 0);
        CHECK((about.st_mode & 07777U) == 0600);
        CHECK(can_connect(opened->address()));
    }
    CHECK_FALSE(at.exists());
}

TEST_CASE("a socket that nothing listens on is replaced")
{
    a_path const at;
    leave_stale_socket(at.path);
    CHECK_FALSE(admin_socket::obstacle(at.where));
    result<admin_socket> const opened = admin_socket::open(at.where);
    REQUIRE(opened.has_value());
    CHECK(can_connect(opened->address()));
}

TEST_CASE("a socket in use is left alone")
{
    a_path const at;
    result<admin_socket> const first = admin_socket::open(at.where);
    REQUIRE(first.has_value());
    CHECK(admin_socket::open(at.where).error() == boost::system::errc::address_in_use);
    CHECK_FALSE(admin_socket::obstacle(at.where)); // `cleat -t` beside a running cleat.
    CHECK(can_connect(first->address()));
}

TEST_CASE("another kind of file is left alone")
{
    a_path const at;
    std::ofstream{at.path} << "mine";
    CHECK(admin_socket::open(at.where).error() == boost::system::errc::file_exists);
    CHECK(admin_socket::obstacle(at.where) == boost::system::errc::file_exists);
    CHECK(at.exists());
}

TEST_CASE("a folder that is not there is named before a start")
{
    admin_address const nowhere{unix_path{"/nonexistent/admin.sock"}};
    CHECK(admin_socket::obstacle(nowhere) == boost::system::errc::no_such_file_or_directory);
    CHECK(admin_socket::open(nowhere).error() == boost::system::errc::no_such_file_or_directory);
}

TEST_CASE("a file that another process has put there is not removed")
{
    a_path const at;
    result<admin_socket> first = admin_socket::open(at.where);
    REQUIRE(first.has_value());
    std::filesystem::remove(at.path);
    result<admin_socket> const second = admin_socket::open(at.where);
    REQUIRE(second.has_value());
    first->close();
    CHECK(can_connect(second->address()));
}

TEST_CASE("a socket knows whether its file has been removed or replaced")
{
    a_path const at;
    result<admin_socket> const first = admin_socket::open(at.where);
    REQUIRE(first.has_value());
    CHECK(first->is_in_place());
    std::filesystem::remove(at.path);
    CHECK_FALSE(first->is_in_place());
    result<admin_socket> const second = admin_socket::open(at.where);
    REQUIRE(second.has_value());
    CHECK_FALSE(first->is_in_place());
    CHECK(second->is_in_place());
    result<admin_socket> const port = admin_socket::open(host_port{"127.0.0.1", 0});
    REQUIRE(port.has_value());
    CHECK(port->is_in_place());
}

TEST_CASE("an address of another machine is named before a start")
{
    host_port const elsewhere{"192.0.2.1", 9443}; // RFC 5737: for documentation.
    CHECK(admin_socket::obstacle(elsewhere) == boost::system::errc::address_not_available);
    CHECK(admin_socket::open(elsewhere).error() == boost::system::errc::address_not_available);
    CHECK_FALSE(admin_socket::obstacle(host_port{"127.0.0.1", 9443}));
}

TEST_CASE("a port that is in use is refused, and port 0 is a free one")
{
    result<admin_socket> const first = admin_socket::open(host_port{"127.0.0.1", 0});
    REQUIRE(first.has_value());
    CHECK(first->address().port() != 0);
    host_port const taken{"127.0.0.1", static_cast<std::uint16_t>(first->address().port())};
    CHECK(admin_socket::open(taken).error() == boost::system::errc::address_in_use);
    CHECK(can_connect(first->address()));
}

} // namespace cleat::app::admin_socket_test
