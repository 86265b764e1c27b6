#include "health/check_control.hpp"
#include "log/log_sink.hpp"

#include <cleat/core/temporary_folder_for_tests.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

namespace cleat::app::check_control_test {
namespace {

using namespace std::chrono_literals;

// An upstream whose server does not listen.
struct scene
{
    [[nodiscard]] std::vector<upstream_plan> upstreams(bool is_checked) const
    {
        upstream_plan plan;
        plan.name = "app";
        plan.servers = {{"a", {net::unix_address((folder.path() / "a").string()).value()}}};
        plan.check = {.is_on = is_checked, .interval = 1ms, .timeout = 1000ms, .fall = 1};
        return {plan};
    }

    [[nodiscard]] known_server const& server() const { return states.all()[0].servers[0]; }

    void wait_for_news() { REQUIRE(arrived.try_acquire_for(60s)); }

    temporary_folder folder;
    std::unique_ptr<log_sink> sink = log_sink::to_file(folder.path() / "log").value();
    logger log{*sink, log_level::info};
    std::counting_semaphore<> arrived{0};
    upstream_states states{1, [](std::size_t, upstream_table const&) {}};
    check_control control{states, [this] { arrived.release(); }};
};

} // namespace

TEST_CASE_FIXTURE(scene, "a server that fails is down, and is logged once")
{
    states.follow(states.following(upstreams(true)));
    control.follow(log);
    wait_for_news();
    control.follow(log);
    CHECK(server().is_down);
    CHECK(server().check.state == check_state::failed);
    CHECK(folder.read("log").find("event=server-down") != std::string::npos);
}

TEST_CASE_FIXTURE(scene, "news of checks that a reload has ended come too late")
{
    states.follow(states.following(upstreams(true)));
    control.follow(log);
    wait_for_news();
    states.follow(states.following(upstreams(false)));
    control.follow(log);
    CHECK_FALSE(server().is_down);
    CHECK(server().check.state == check_state::none);
}

TEST_CASE_FIXTURE(scene, "checks that end and begin again find the server's state again")
{
    states.follow(states.following(upstreams(true)));
    control.follow(log);
    wait_for_news();
    control.follow(log);
    states.follow(states.following(upstreams(false)));
    control.follow(log);
    states.follow(states.following(upstreams(true)));
    control.follow(log);
    wait_for_news();
    control.follow(log);
    CHECK(server().is_down);
}

} // namespace cleat::app::check_control_test
