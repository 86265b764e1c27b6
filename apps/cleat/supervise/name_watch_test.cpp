#include "log/log_sink.hpp"
#include "supervise/name_watch.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

namespace cleat::app::name_watch_test {
namespace {

using namespace std::chrono_literals;

std::vector<net::address> addresses_of(std::string const& number)
{
    return net::resolve(number, "80").value();
}

// A configuration whose upstream has a name. The system knows another address of it.
snapshot configuration_of(std::string const& number)
{
    upstream_plan plan;
    plan.name = "app";
    plan.servers = {{"[localhost]:80", addresses_of(number)}};
    plan.names.push_back(
        {.watched = {{"localhost", 80}, {}, {{{}, addresses_of(number)}}}, .targets = {""}});
    snapshot made;
    made.upstreams = {plan};
    return made;
}

struct scene
{
    [[nodiscard]] std::string address() const
    {
        return net::to_string(states.all()[0].servers[0].addresses.front());
    }

    void wait_for_news() { REQUIRE(arrived.try_acquire_for(60s)); }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::info};
    std::counting_semaphore<> arrived{0};
    upstream_states states{1, [](std::size_t, upstream_table const&) {}};
    name_watch names{states, [this] { arrived.release(); }};
    snapshot first = configuration_of("192.0.2.1");
    snapshot second = configuration_of("192.0.2.2");
};

} // namespace

TEST_CASE_FIXTURE(scene, "an address that DNS has found reaches the servers")
{
    states.follow(states.following(first.upstreams));
    names.follow(first, log);
    wait_for_news();
    names.look(first, log);
    CHECK(address() != "192.0.2.1:80");
    CHECK(folder.read("log").find("event=dns-changed") != std::string::npos);
}

TEST_CASE_FIXTURE(scene, "news of the configuration before a reload come too late")
{
    states.follow(states.following(first.upstreams));
    names.follow(first, log);
    wait_for_news();
    states.follow(states.following(second.upstreams)); // A reload: the end of it is not there yet.
    names.look(second, log);
    CHECK(address() == "192.0.2.2:80");
    names.follow(second, log);
    wait_for_news();
    names.look(second, log);
    CHECK(address() != "192.0.2.2:80");
}

TEST_CASE_FIXTURE(scene, "a name that a reload cannot look up keeps its addresses without a line")
{
    states.follow(states.following(first.upstreams));
    names.follow(first, log);
    wait_for_news();
    names.look(first, log);
    std::string const found = address();
    snapshot again = configuration_of("192.0.2.1");
    again.upstreams[0].names[0].is_kept = true;
    states.follow(states.following(again.upstreams));
    names.follow(again, log);
    CHECK(address() == found);
    std::string const lines = folder.read("log");
    CHECK(lines.find("event=dns-changed") == lines.rfind("event=dns-changed"));
}

} // namespace cleat::app::name_watch_test
