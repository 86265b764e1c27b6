#include "worker/upstream_choice.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app::upstream_choice_test {
namespace {

error_code const refused = make_error_code(boost::system::errc::connection_refused);

net::address address_of(std::string const& port)
{
    return net::resolve("192.0.2.1", port).value().front();
}

// Two servers, the first with two addresses: ports 1 and 2, and 3.
struct two_servers
{
    two_servers()
    {
        plan.name = "app";
        plan.strategy = balance::first;
        plan.eject_after = 2;
        plan.servers = {{"a", {address_of("1"), address_of("2")}}, {"b", {address_of("3")}}};
    }

    [[nodiscard]] worker_upstream& upstream()
    {
        return made ? *made : made.emplace(worker, plan, logger{*sink, log_level::info});
    }
    void follow(std::vector<server_row> const& rows)
    {
        worker_table table = copy_for_worker(rows, 0);
        upstream().follow(table);
    }
    // All addresses that a connection tries in vain.
    std::string fail_all(error_code why = refused)
    {
        upstream_choice choice{upstream(), {}};
        std::string tried;
        while (net::address const* const next = choice.next()) {
            tried += std::to_string(next->port());
            choice.failed(why);
        }
        return tried;
    }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    net::worker worker;
    upstream_plan plan;
    std::optional<worker_upstream> made;
};

} // namespace

TEST_CASE_FIXTURE(two_servers, "all addresses of a server are tried, and then the next server's")
{
    upstream_choice choice{upstream(), {}};
    CHECK(choice.name() == "app");
    CHECK(choice.others() == 2);
    CHECK(choice.next()->port() == 1);
    CHECK(choice.others() == 2);
    CHECK(choice.name() == "a");
    choice.failed(refused);
    CHECK(choice.next()->port() == 2);
    CHECK(choice.others() == 1);
    choice.failed(refused);
    CHECK(choice.next()->port() == 3);
    CHECK(choice.others() == 0);
    CHECK(choice.name() == "b");
    choice.failed(refused);
    CHECK(choice.next() == nullptr);
    CHECK(choice.name() == "b");
}

TEST_CASE_FIXTURE(two_servers, "a server whose last address accepts has not failed")
{
    for (int i = 0; i < 10; ++i) {
        upstream_choice choice{upstream(), {}};
        unsigned const first = choice.next()->port();
        choice.failed(refused);
        CHECK(choice.next()->port() == 3 - first); // The other one of 1 and 2.
        choice.answered();
    }
    CHECK(upstream().servers().ejection_of(0).failures() == 0);
}

TEST_CASE_FIXTURE(two_servers, "a connection begins with the address that has answered last")
{
    auto const fail_until = [this](unsigned port) {
        upstream_choice choice{upstream(), {}};
        while (choice.next()->port() != port)
            choice.failed(refused);
        choice.answered();
    };
    plan.servers.front().addresses.push_back(address_of("4"));
    CHECK(fail_all() == "1243");
    fail_until(2);
    CHECK(fail_all() == "2143");
    fail_until(4);
    CHECK(upstream().servers().ejection_of(0).failures() == 0);
    {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.next()->port() == 4);
        fail_until(1); // Another connection meanwhile.
        CHECK(choice.address().port() == 4);
        choice.failed(refused);
        CHECK(choice.next()->port() == 2);
        choice.answered();
    }
    CHECK(fail_all() == "2143");
    follow({{{address_of("1"), address_of("2")}}, {{address_of("3")}}}); // Other addresses.
    CHECK(fail_all() == "123");
}

TEST_CASE_FIXTURE(two_servers, "servers that have failed come last, and all are tried all the same")
{
    CHECK(fail_all() == "123");
    CHECK(fail_all() == "123");
    CHECK(upstream().servers().ejection_of(0).is_out());
    CHECK(upstream().servers().ejection_of(1).is_out());
    {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.next()->port() == 1);
        choice.failed(refused);
        CHECK(choice.next()->port() == 2);
        choice.failed(refused);
        CHECK(choice.next()->port() == 3);
        choice.answered();
    }
    CHECK(fail_all() == "312");
    CHECK(folder.read("log").find("server-returned") != std::string::npos);
}

namespace {

net::address ipv6_address_of(std::string const& port)
{
    return net::resolve("2001:db8::1", port).value().front();
}

// The ports of the addresses, in the order in which a server has them.
std::string order_of(std::vector<net::address> all)
{
    std::string ports;
    for (net::address const& each : by_turns(std::move(all)))
        ports += std::to_string(each.port());
    return ports;
}

} // namespace

TEST_CASE("addresses of both families are tried by turns, from the first one's on")
{
    CHECK(order_of({}).empty());
    CHECK(order_of({address_of("1"), address_of("2")}) == "12");
    CHECK(
        order_of({ipv6_address_of("1"), ipv6_address_of("2"), address_of("3"), address_of("4")}) ==
        "1324");
    CHECK(
        order_of(
            {address_of("1"), ipv6_address_of("2"), ipv6_address_of("3"), ipv6_address_of("4")}) ==
        "1234");
    auto const made = std::make_unique<server_addresses>(
        std::vector{ipv6_address_of("1"), address_of("2"), ipv6_address_of("3")});
    server_addresses const& both = *made;
    CHECK(both.in_order(0, false).port() == 1);
    CHECK(both.in_order(0, true).port() == 2);
    CHECK(both.in_order(1, true).port() == 1);
    CHECK(both.in_order(2, true).port() == 3);
}

TEST_CASE_FIXTURE(two_servers, "the rival of an address is the next one, of the other family")
{
    plan.servers.front().addresses = {
        ipv6_address_of("1"), ipv6_address_of("2"), address_of("4"), ipv6_address_of("5")};
    upstream_choice choice{upstream(), {}};
    CHECK(choice.next()->port() == 1);
    REQUIRE(choice.rival() != nullptr);
    CHECK(choice.rival()->port() == 4);
    CHECK(choice.next()->port() == 4);
    CHECK(choice.rival()->port() == 2);
    choice.take_rival();
    CHECK(choice.address().port() == 2);
    CHECK(choice.rival() == nullptr); // The last one is of the same family.
    CHECK(choice.next()->port() == 5);
    CHECK(choice.rival() == nullptr);
    CHECK(choice.next()->port() == 3); // Of the next server.
    CHECK(choice.rival() == nullptr);
}

TEST_CASE_FIXTURE(two_servers, "the address that has answered changes places within its family")
{
    plan.servers.front().addresses = {
        ipv6_address_of("1"), ipv6_address_of("2"), address_of("4"), ipv6_address_of("5")};
    auto const fail_until = [this](unsigned port) {
        upstream_choice choice{upstream(), {}};
        while (choice.next()->port() != port)
            choice.failed(refused);
        choice.answered();
    };
    CHECK(fail_all() == "14253");
    fail_until(5);
    upstream_choice choice{upstream(), {}};
    CHECK(choice.next()->port() == 5);
    CHECK(choice.rival()->port() == 4);
    CHECK(fail_all() == "54213");
    fail_until(4); // Of the other family, which then comes first.
    CHECK(fail_all() == "45213");
}

TEST_CASE_FIXTURE(two_servers, "the family that has answered comes first from then on")
{
    plan.servers.front().addresses = {ipv6_address_of("1"), address_of("2")};
    {
        upstream_choice choice{upstream(), {}};
        static_cast<void>(choice.next());
        choice.take_rival();
        choice.answered();
    }
    CHECK(upstream().servers().ejection_of(0).failures() == 0);
    CHECK(fail_all() == "213");
    upstream_choice choice{upstream(), {}};
    CHECK(choice.next()->port() == 2);
    CHECK(choice.rival()->port() == 1);
    choice.take_rival();
    choice.answered();
    CHECK(fail_all() == "123");
}

TEST_CASE_FIXTURE(two_servers, "an error of this machine's says nothing about a server")
{
    for (int const why : {EMFILE, ENFILE, ENOMEM, ENOBUFS, EADDRNOTAVAIL, EAGAIN})
        for (int i = 0; i < 3; ++i)
            CHECK(fail_all(error_code{why, boost::system::system_category()}) == "123");
    CHECK_FALSE(upstream().servers().ejection_of(0).is_out());
}

TEST_CASE_FIXTURE(two_servers, "servers to which no port was free are tried again, in turn")
{
    {
        upstream_choice choice{upstream(), {}};
        CHECK_FALSE(choice.lacks_port());
        CHECK(choice.next()->port() == 1);
        choice.failed(refused);
        CHECK(choice.next()->port() == 2);
        choice.failed(refused);
        CHECK(choice.next()->port() == 3);
        choice.failed(make_error_code(error::local_ports_used_up));
        CHECK(choice.next() == nullptr);
        CHECK(choice.lacks_port());
        CHECK_FALSE(choice.has_server());
        CHECK(choice.name() == "b");
        if (choice.start_again())
            CHECK(choice.name() == "b"); // Not the one that has refused.
        else
            CHECK_FALSE(choice.lacks_port());
    }
    CHECK(upstream().servers().ejection_of(0).failures() == 1);
    net::interrupt interrupt{worker};
    connect_queue::place const earlier{upstream().ports(), interrupt};
    upstream_choice choice{upstream(), {}};
    CHECK(choice.next() == nullptr);
    CHECK(choice.lacks_port());
}

TEST_CASE_FIXTURE(two_servers, "a protocol that one client alone wants says nothing about a server")
{
    for (int i = 0; i < 3; ++i)
        CHECK(fail_all(error::alpn_mismatch) == "123");
    CHECK_FALSE(upstream().servers().ejection_of(0).is_out());
}

TEST_CASE_FIXTURE(two_servers, "a server with other addresses is not left out for those before")
{
    for (int i = 0; i < 2; ++i)
        static_cast<void>(fail_all());
    CHECK(upstream().servers().ejection_of(0).is_out());
    follow({{{address_of("2"), address_of("4")}}, {{address_of("3")}}}); // One is as before.
    CHECK(upstream().servers().ejection_of(0).is_out());
    follow({{{address_of("5")}}, {{address_of("3")}}});
    CHECK_FALSE(upstream().servers().ejection_of(0).is_out());
}

TEST_CASE_FIXTURE(two_servers, "connections leave the line of a server that gets none any more")
{
    plan.servers[0].connections_max = 1;
    plan.servers[1].connections_max = 1;
    plan.workers = 1;
    upstream_choice one{upstream(), {}};
    upstream_choice two{upstream(), {}};
    static_cast<void>(one.next());
    static_cast<void>(two.next());
    upstream_choice waits{upstream(), {}};
    CHECK(waits.next()->port() == 1);
    CHECK(waits.waits());
    CHECK_FALSE(waits.leaves_line());
    server_row const other{{address_of("3")}};
    follow({{{address_of("1"), address_of("2")}, 1, server_state::down}, other});
    CHECK(waits.leaves_line());
    follow({{{address_of("1"), address_of("2")}, 1, server_state::drained}, other});
    CHECK(waits.leaves_line());
    waits.pass_over();
    CHECK(waits.next()->port() == 3);
}

TEST_CASE_FIXTURE(two_servers, "a failure counts also when the connection ends with it")
{
    plan.servers.pop_back();
    plan.servers.front().addresses.pop_back();
    for (int i = 0; i < 2; ++i) {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.next() != nullptr);
        choice.failed(make_error_code(error::connect_timeout));
    }
    CHECK(upstream().servers().ejection_of(0).is_out());
}

TEST_CASE_FIXTURE(
    two_servers, "a connection that tries a server and is given up leaves it to others")
{
    plan.eject_time = std::chrono::milliseconds{0};
    fail_all();
    fail_all();
    ejection const& server = upstream().servers().ejection_of(0);
    {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.next()->port() == 1);
        CHECK_FALSE(server.serves(worker.now()));
    }
    CHECK(server.serves(worker.now()));
}

TEST_CASE_FIXTURE(two_servers, "a server without addresses is passed over")
{
    plan.servers.front().addresses.clear();
    upstream_choice choice{upstream(), {}};
    CHECK(choice.next()->port() == 3);
}

TEST_CASE_FIXTURE(two_servers, "a connection counts at its server for as long as its choice lives")
{
    plan.strategy = balance::least_connections;
    std::optional<upstream_choice> first;
    std::optional<upstream_choice> second;
    first.emplace(upstream(), 0);
    std::string const chosen = std::to_string(first->next()->port());
    second.emplace(upstream(), 0);
    CHECK(std::to_string(second->next()->port()) != chosen);
    first.reset();
    first.emplace(upstream(), 0);
    CHECK(std::to_string(first->next()->port()) == chosen);
}

TEST_CASE_FIXTURE(two_servers, "a connection keeps its address when the server has got others")
{
    std::optional<upstream_choice> choice;
    choice.emplace(upstream(), 0);
    net::address const* const first = choice->next();
    choice->answered();
    follow({{{address_of("4")}}, {{address_of("3")}}});
    CHECK(first->port() == 1);
    CHECK(choice->address().port() == 1);
    CHECK(fail_all() == "43");
    follow({{{address_of("5")}}, {{address_of("3")}}}); // Nothing refers to the ones before.
    CHECK(choice->address().port() == 1);
    choice.reset();
    CHECK(fail_all() == "53");
}

TEST_CASE_FIXTURE(two_servers, "addresses that are the same stay where they are")
{
    upstream_choice choice{upstream(), {}};
    net::address const* const first = choice.next();
    follow({{{address_of("1"), address_of("2")}, 3}, {{address_of("3")}}});
    CHECK(upstream().addresses(0).all().data() == first);
}

TEST_CASE_FIXTURE(two_servers, "connections and failures of a server are counted")
{
    auto const counts = std::make_shared<counts_by_worker>(1);
    server_counts const& one = counts->front();
    follow(
        {{{address_of("1"), address_of("2")}, 1, server_state::serving, counts},
         {{address_of("3")}}});
    {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.next()->port() == 1);
        CHECK(one.value(server_count::opened) == 0); // It has not answered.
        choice.failed(refused);
        CHECK(choice.next()->port() == 2);
        choice.answered();
        CHECK(one.value(server_count::opened) == 1);
        CHECK(one.value(server_count::closed) == 0);
    }
    CHECK(one.value(server_count::closed) == 1);
    CHECK(one.value(server_count::failed) == 0);
    fail_all();
    CHECK(one.value(server_count::failed) == 1);
    CHECK(one.value(server_count::opened) == 1);
    CHECK(one.value(server_count::closed) == 1);
}

TEST_CASE_FIXTURE(two_servers, "a server that is full is passed over, and waited for where all are")
{
    plan.servers[0].connections_max = plan.servers[1].connections_max = 1;
    std::optional<upstream_choice> first;
    std::optional<upstream_choice> second;
    first.emplace(upstream(), 0);
    CHECK(first->next()->port() == 1);
    CHECK_FALSE(first->waits());
    second.emplace(upstream(), 0);
    CHECK(second->next()->port() == 3);
    CHECK_FALSE(second->waits());

    upstream_choice third{upstream(), {}};
    CHECK(third.next()->port() == 1);
    CHECK(third.waits());
    CHECK_FALSE(third.admit());
    first.reset();
    second.reset();
    {
        upstream_choice fourth{upstream(), {}}; // It does not overtake.
        CHECK(fourth.next()->port() == 3);
        CHECK_FALSE(fourth.waits());
        upstream_choice fifth{upstream(), {}};
        CHECK(fifth.next()->port() == 1);
        CHECK(fifth.waits()); // And gives up.
    }
    CHECK(third.admit());
    CHECK_FALSE(third.waits());
    CHECK(upstream().servers().is_full(0));
}

TEST_CASE_FIXTURE(two_servers, "a limit is in equal parts for the workers")
{
    plan.servers[0].connections_max = 5;
    plan.workers = 2; // This one is the first.
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(upstream().servers().is_full(0));
        upstream().servers().began(0);
    }
    CHECK(upstream().servers().is_full(0));
    upstream().servers().ended(0);
    CHECK_FALSE(upstream().servers().is_full(0));
}

TEST_CASE_FIXTURE(two_servers, "a server of the same name keeps its connections over a reload")
{
    plan.servers[0].connections_max = plan.servers[1].connections_max = 1;
    upstream().servers().began(1);
    upstream_plan next = plan;
    std::swap(next.servers[0], next.servers[1]);
    worker_upstream after{worker, next, logger{*sink, log_level::info}};
    after.go_on_from(upstream());
    CHECK(after.servers().is_full(0));
    CHECK_FALSE(after.servers().is_full(1));
    upstream().servers().ended(1);
    CHECK_FALSE(after.servers().is_full(0));
}

TEST_CASE_FIXTURE(two_servers, "a target of a service keeps its connections at its address")
{
    plan.servers[0].connections_max = plan.servers[1].connections_max = 1;
    plan.names.push_back(
        {.watched = {{"app.example", 0, dns_question::kind::service}, {}, {}},
         .targets = {"one", "two"}});
    upstream().servers().began(1);
    upstream_plan next = plan; // The first target is gone, and the second has its place.
    next.servers[0].addresses = plan.servers[1].addresses;
    next.servers[1].addresses.clear();
    worker_upstream after{worker, next, logger{*sink, log_level::info}};
    after.go_on_from(upstream());
    CHECK(after.servers().is_full(0));
    CHECK_FALSE(after.servers().is_full(1));
}

TEST_CASE_FIXTURE(two_servers, "a connection from before a reload knows a server that is drained")
{
    upstream_choice waiting{upstream(), {}};
    CHECK(waiting.next()->port() == 1);
    worker_upstream after{worker, plan, logger{*sink, log_level::info}};
    after.go_on_from(upstream());
    CHECK_FALSE(waiting.leaves_line());
    worker_table drained =
        copy_for_worker({{{address_of("1")}, 1, server_state::drained}, {{address_of("3")}}}, 0);
    after.follow(drained);
    CHECK(waiting.leaves_line());
}

TEST_CASE_FIXTURE(two_servers, "a server that is drained gets no connection, and counts as none")
{
    follow({{{address_of("1")}, 1, server_state::drained}, {{address_of("3")}}});
    {
        upstream_choice choice{upstream(), {}};
        CHECK(choice.others() == 1);
        CHECK(choice.next()->port() == 3);
        CHECK(choice.others() == 0);
    }
    follow({{{}, 1, server_state::drained}, {{}, 1, server_state::drained}});
    CHECK(fail_all().empty());
    follow({{{address_of("1")}}, {{address_of("3")}}});
    CHECK(fail_all() == "13");
}

TEST_CASE_FIXTURE(two_servers, "a server that is down comes last, after one that is left out")
{
    fail_all();
    fail_all();
    CHECK(upstream().servers().ejection_of(1).is_out());
    follow({{{address_of("1")}, 1, server_state::down}, {{address_of("3")}}});
    CHECK(fail_all() == "31");
    follow({{{address_of("1")}}, {{address_of("3")}}}); // Its checks say that it is back.
    CHECK_FALSE(upstream().servers().ejection_of(0).is_out());
    CHECK(fail_all() == "13");
}

} // namespace cleat::app::upstream_choice_test
