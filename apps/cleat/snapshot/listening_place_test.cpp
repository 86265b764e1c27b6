#include "snapshot/listening_place.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::listening_place_test {
namespace {

// A configuration whose frontends listen on these addresses: "127.0.0.1:0".
snapshot listening_on(std::vector<std::vector<std::string>> const& frontends)
{
    snapshot made;
    for (std::vector<std::string> const& addresses : frontends) {
        frontend_plan& plan = made.frontends.emplace_back();
        for (std::string const& each : addresses) {
            std::size_t const colon = each.rfind(':');
            plan.addresses.push_back(
                net::resolve(each.substr(0, colon), each.substr(colon + 1)).value().front());
        }
    }
    return made;
}

} // namespace

TEST_CASE("a worker has a socket for each address, and the place has the port that was chosen")
{
    bound_sockets const bound = bind_all(listening_on({{"127.0.0.1:0"}, {"127.0.0.2:0"}}), 3);
    CHECK(bound.problems.empty());
    REQUIRE(bound.places.size() == 2);
    CHECK(bound.places[0].frontend == 0);
    CHECK(bound.places[1].frontend == 1);
    CHECK(bound.places[1].wanted == "127.0.0.2:0");
    CHECK(bound.places[1].address.port() != 0);
    CHECK(!bound.places[1].kept);
    REQUIRE(bound.by_worker.size() == 3);
    for (std::vector<unique_fd> const& sockets : bound.by_worker) {
        REQUIRE(sockets.size() == 2);
        CHECK(
            net::to_string(net::local_address(sockets[1].get()).value()) ==
            net::to_string(bound.places[1].address));
    }
}

TEST_CASE("an address of the running configuration is kept, whichever frontend has it")
{
    snapshot const before = listening_on({{"127.0.0.1:0"}, {"127.0.0.2:0"}, {"127.0.0.3:0"}});
    bound_sockets const running = bind_all(before, 2);
    // The third is the first now, the second is gone, and one is new.
    snapshot const after = listening_on({{"127.0.0.3:0", "127.0.0.4:0"}, {"127.0.0.1:0"}});
    bound_sockets const bound = bind_all(after, 2, running.places);
    CHECK(bound.problems.empty());
    REQUIRE(bound.places.size() == 3);
    CHECK(bound.places[0].kept == 2U);
    CHECK(bound.places[0].address.port() == running.places[2].address.port());
    CHECK(!bound.places[1].kept);
    CHECK(bound.places[1].frontend == 0);
    CHECK(bound.places[2].kept == 0U);
    CHECK(bound.places[2].frontend == 1);
    for (std::vector<unique_fd> const& sockets : bound.by_worker) {
        REQUIRE(sockets.size() == 3);
        CHECK(!sockets[0]);
        CHECK(sockets[1]);
        CHECK(!sockets[2]);
    }
}

TEST_CASE("a place is kept for one frontend only, and an address that is named twice is one")
{
    bound_sockets const running = bind_all(listening_on({{"127.0.0.1:0"}}), 1);
    snapshot const after = listening_on({{"127.0.0.1:0", "127.0.0.1:0"}, {"127.0.0.1:0"}});
    bound_sockets const bound = bind_all(after, 1, running.places);
    CHECK(bound.problems.empty());
    REQUIRE(bound.places.size() == 2);
    CHECK(bound.places[0].kept == 0U);
    CHECK(!bound.places[1].kept);
    CHECK(bound.places[1].address.port() != running.places[0].address.port());
}

TEST_CASE("a name may have an address of another machine, beside one that is kept")
{
    bound_sockets const running = bind_all(listening_on({{"127.0.0.1:0"}}), 1);
    // 192.0.2.0/24 is for documentation (RFC 5737), so no machine has an address of it.
    bound_sockets const bound =
        bind_all(listening_on({{"127.0.0.1:0", "192.0.2.1:0"}}), 1, running.places);
    CHECK(bound.problems.empty());
    CHECK(bound.places.size() == 1);

    bound_sockets const alone = bind_all(listening_on({{"192.0.2.1:0"}}), 1, running.places);
    CHECK(alone.problems.size() == 1);
}

} // namespace cleat::app::listening_place_test
