#include "upstream/source_addresses.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app::source_addresses_test {
namespace {

net::address address_of(std::string const& host)
{
    return net::resolve(host, "0").value().front();
}

// A listening socket, and where it listens.
struct listening
{
    unique_fd fd = net::listen_on(address_of("127.0.0.1"), {}).value();
    net::address address = net::local_address(fd.get()).value();
};

// The address without the port.
std::string source_of(unique_fd const& fd)
{
    std::string text = net::to_string(net::local_address(fd.get()).value());
    return text.substr(0, text.rfind(':'));
}

int port_of(unique_fd const& fd)
{
    std::string const text = net::to_string(net::local_address(fd.get()).value());
    return std::stoi(text.substr(text.rfind(':') + 1));
}

} // namespace

TEST_CASE("sources take turns, from another one on in each worker")
{
    listening const server;
    std::vector<net::address> const all{
        address_of("127.0.0.2"), address_of("127.0.0.3"), address_of("::1")};
    source_addresses first{all, 0};
    source_addresses second{all, 1};
    CHECK(source_of(first.connect(server.address).value()) == "127.0.0.2");
    CHECK(source_of(first.connect(server.address).value()) == "127.0.0.3");
    CHECK(source_of(first.connect(server.address).value()) == "127.0.0.2");
    CHECK(source_of(second.connect(server.address).value()) == "127.0.0.3");
}

TEST_CASE("ports come from the worker's slice, and from the whole range once it is used up")
{
    listening const server;
    std::uint16_t const first = 33'000;
    local_ports const slice{first, first + 1};
    source_addresses worker{{}, 0, slice};
    std::vector<unique_fd> held;
    std::vector<int> in_slice;
    for (int i = 0; i < 6; ++i) {
        result<unique_fd> made = worker.connect(server.address);
        REQUIRE(made.has_value());
        int const port = port_of(*made);
        if (port == slice.first || port == slice.last)
            in_slice.push_back(port);
        held.push_back(std::move(*made));
    }
    unique_fd const probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    bool const has_option = use_slice(probe.get(), slice);
    // Another program may have one of the two ports.
    CHECK(in_slice.size() <= 2);
    CHECK((!has_option || !in_slice.empty()));
}

TEST_CASE("without a source of the family the kernel chooses")
{
    listening const server;
    source_addresses none{{}, 3};
    CHECK(source_of(none.connect(server.address).value()) == "127.0.0.1");
    std::vector<net::address> const ipv6{address_of("::1")};
    source_addresses other{ipv6, 0};
    CHECK(source_of(other.connect(server.address).value()) == "127.0.0.1");
}

TEST_CASE("a source that this machine has no more is passed over")
{
    listening const server;
    std::vector<net::address> const one_is_gone{address_of("192.0.2.1"), address_of("127.0.0.3")};
    source_addresses sources{one_is_gone, 0};
    CHECK(source_of(sources.connect(server.address).value()) == "127.0.0.3");
    std::vector<net::address> const gone{address_of("192.0.2.1")};
    CHECK(
        source_addresses{gone, 0}.connect(server.address).error() ==
        boost::system::errc::address_not_available);
    CHECK(check_source(gone.front()) == boost::system::errc::address_not_available);
    CHECK_FALSE(check_source(address_of("127.0.0.9")));
}

} // namespace cleat::app::source_addresses_test
