#include "activation/passed_sockets.hpp"
#include "snapshot/frontend_sockets.hpp"
#include "snapshot/listening_place.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleat::app::passed_sockets_test {
namespace {

using names = std::vector<std::string>;

net::address any_port(char const* host)
{
    return net::resolve(host, "0").value().front();
}

passed_socket listening(char const* host, std::string name = {})
{
    unique_fd fd = net::listen_on(any_port(host), {}).value();
    std::optional<passed_socket> found = look_at(std::move(fd), std::move(name));
    REQUIRE(found);
    return std::move(*found);
}

// A frontend with this address, whose port the kernel has chosen.
snapshot with_frontend(std::string name, std::vector<net::address> addresses)
{
    snapshot made;
    frontend_plan& plan = made.frontends.emplace_back();
    plan.name = std::move(name);
    plan.addresses = std::move(addresses);
    return made;
}

std::vector<passed_socket> only(passed_socket socket)
{
    std::vector<passed_socket> made;
    made.push_back(std::move(socket));
    return made;
}

ino_t inode(int fd)
{
    struct stat about = {};
    REQUIRE(::fstat(fd, &about) == 0);
    return about.st_ino;
}

} // namespace

TEST_CASE("the variables of another process, or none, pass nothing")
{
    CHECK(names_in({}, 7).names.empty());
    CHECK(names_in({"8", "2", "a:b"}, 7).names.empty());
    CHECK(names_in({"8", "2", "a:b"}, 7).fault.empty());
    CHECK(names_in({{}, "2", {}}, 7).names.empty());
    CHECK(names_in({"7", {}, {}}, 7).names.empty());
    CHECK(names_in({"7", "0", ""}, 7).fault.empty());
}

TEST_CASE("each descriptor has its name, or all have none")
{
    CHECK(names_in({"7", "2", "web:*,443"}, 7).names == names{"web", "*,443"});
    CHECK(names_in({"7", "2", ":"}, 7).names == names{"", ""});
    CHECK(names_in({"7", "2", {}}, 7).names == names{"", ""});
}

TEST_CASE("variables that are wrong are a fault")
{
    for (listen_variables const& each : std::vector<listen_variables>{
             {"x", "1", {}},
             {"", "1", {}},
             {"-7", "1", {}},
             {"7", "", {}},
             {"7", "-1", {}},
             {"7", "1x", {}},
             {"7", "99999", {}},
             {"7", "2", "a"},
             {"7", "1", "a:b"}})
        CHECK_FALSE(names_in(each, 7).fault.empty());
}

TEST_CASE("only a TCP socket that listens can serve")
{
    CHECK(look_at(net::listen_on(any_port("127.0.0.1"), {}).value(), "web"));
    for (int const kind : {SOCK_STREAM, SOCK_DGRAM})
        CHECK_FALSE(look_at(unique_fd{::socket(AF_INET, kind | SOCK_CLOEXEC, 0)}, ""));
    CHECK_FALSE(look_at(unique_fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}, ""));
    CHECK_FALSE(look_at(unique_fd{::dup(STDERR_FILENO)}, ""));
}

TEST_CASE("a frontend is named with a comma, since names have no colon")
{
    CHECK(descriptor_name("[*]:443") == "*,443");
    CHECK(descriptor_name("[www.example.org]:8443") == "www.example.org,8443");
    CHECK(descriptor_name("") == "");
}

TEST_CASE("a passed socket serves the frontend that has its address, on every worker")
{
    passed_socket socket = listening("127.0.0.1");
    net::address const address = socket.address;
    ino_t const expected = inode(socket.fd.get());
    snapshot const wanted = with_frontend("[127.0.0.1]:1", {address});
    bound_sockets const bound = bind_all(wanted, 3, {}, {}, only(std::move(socket)));
    CHECK(bound.problems.empty());
    REQUIRE(bound.places.size() == 1);
    CHECK(bound.places[0].passed);
    for (std::vector<unique_fd> const& each : bound.by_worker) {
        REQUIRE(each.size() == 1);
        CHECK(inode(each.front().get()) == expected);
    }

    bound_sockets const again = bind_all(wanted, 3, bound.places);
    CHECK(again.problems.empty());
    REQUIRE(again.places.size() == 1);
    CHECK(again.places[0].kept == 0U);
    CHECK(again.places[0].passed);
}

TEST_CASE("a passed socket serves the frontend that its name says, and that has no other")
{
    passed_socket socket = listening("127.0.0.7", "www.example.org,443");
    snapshot const wanted =
        with_frontend("[www.example.org]:443", {net::resolve("127.0.0.1", "1").value().front()});
    bound_sockets const bound = bind_all(wanted, 1, {}, {}, only(std::move(socket)));
    CHECK(bound.problems.empty());
    REQUIRE(bound.places.size() == 1);
    CHECK(net::to_string(bound.places[0].address).starts_with("127.0.0.7:"));
    bound_sockets const again = bind_all(wanted, 1, bound.places);
    CHECK(again.problems.empty());
    CHECK(again.places.at(0).kept == 0U);
}

TEST_CASE("a name is stronger than an address")
{
    passed_socket socket = listening("127.0.0.1", "b,443");
    snapshot wanted = with_frontend("[a]:443", {socket.address});
    frontend_plan& second = wanted.frontends.emplace_back();
    second.name = "[b]:443";
    std::vector<passed_socket> passed = only(std::move(socket));
    std::vector<std::vector<address_group>> const found = take_sockets(wanted.frontends, passed);
    CHECK(passed.empty());
    CHECK(found[0].empty());
    CHECK(found[1].size() == 1);
}

TEST_CASE("a socket of no frontend is an error that names it")
{
    snapshot const wanted = with_frontend("[127.0.0.1]:0", {any_port("127.0.0.1")});
    bound_sockets const bound = bind_all(wanted, 1, {}, {}, only(listening("127.0.0.1", "web")));
    REQUIRE(bound.problems.size() == 1);
    CHECK(bound.problems[0].text.starts_with("no frontend listens on 127.0.0.1:"));
    CHECK(bound.problems[0].text.ends_with(", named web)"));
}

TEST_CASE("several sockets of one address are a queue for each worker, and no worker more")
{
    net::listen_options shared;
    std::vector<passed_socket> passed = only(listening("127.0.0.1"));
    net::address const address = passed.front().address;
    passed.push_back(look_at(net::listen_on(address, shared).value(), "").value());
    ino_t const first = inode(passed[0].fd.get());
    ino_t const second = inode(passed[1].fd.get());
    snapshot const wanted = with_frontend("[127.0.0.1]:1", {address});
    std::vector<passed_socket> too_many;
    for (passed_socket const& each : passed)
        too_many.push_back(look_at(unique_fd{::dup(each.fd.get())}, "").value());

    bound_sockets const bound = bind_all(wanted, 3, {}, {}, std::move(passed));
    CHECK(bound.problems.empty());
    CHECK(inode(bound.by_worker[0][0].get()) == first);
    CHECK(inode(bound.by_worker[1][0].get()) == second);
    CHECK(inode(bound.by_worker[2][0].get()) == first);

    bound_sockets const refused = bind_all(wanted, 1, {}, {}, std::move(too_many));
    REQUIRE(refused.problems.size() == 1);
    CHECK(refused.problems[0].text.starts_with("2 sockets are passed for 127.0.0.1:"));
}

TEST_CASE("a socket for any address of both families takes IPv4 too")
{
    unique_fd fd{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (!fd)
        return; // This kernel has no IPv6.
    int const off = 0;
    REQUIRE(::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr const*>(&any), sizeof any) == 0);
    REQUIRE(::listen(fd.get(), 10) == 0);
    std::optional<passed_socket> socket = look_at(std::move(fd), "");
    REQUIRE(socket);
    CHECK(socket->takes_ipv4);
    std::string const port = std::to_string(socket->address.port());
    snapshot const wanted = with_frontend("[*]:" + port, net::resolve("*", port).value());
    bound_sockets const bound = bind_all(wanted, 1, {}, {}, only(std::move(*socket)));
    CHECK(bound.problems.empty());
    CHECK(bound.places.size() == 1);
    bound_sockets const again = bind_all(wanted, 1, bound.places);
    CHECK(again.problems.empty());
    CHECK(again.places.size() == 1);
}

TEST_CASE("a reload cannot leave a passed socket without a frontend")
{
    passed_socket socket = listening("127.0.0.1");
    snapshot const before = with_frontend("[127.0.0.1]:1", {socket.address});
    bound_sockets const running = bind_all(before, 1, {}, {}, only(std::move(socket)));
    snapshot const after = with_frontend("[127.0.0.2]:0", {any_port("127.0.0.2")});
    bound_sockets const bound = bind_all(after, 1, running.places);
    REQUIRE(bound.problems.size() == 1);
    CHECK(bound.problems[0].text.find("the socket unit keeps it open") != std::string::npos);
}

} // namespace cleat::app::passed_sockets_test
