// A run: which part of it is counted, and that no signal is lost.

#include "generate/run.hpp"
#include "system/interruption.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

namespace cleat::bench::run_test {
namespace {

using namespace std::chrono_literals;

// No server listens on port 1: every transaction fails, and the run goes on.
load_spec load_without_server()
{
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(1);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    load_spec spec;
    *reinterpret_cast<sockaddr_in*>(&spec.address.storage) = in;
    spec.address.size = sizeof in;
    spec.workers = 1;
    spec.loop = open{{{10s, 100, 100}}, arrivals::constant, 1};
    return spec;
}

// The watch function stops the run, and a signal comes before the run has ended: the loop that
// takes signals is over then.
run_control signal_after_stop()
{
    run_control control;
    control.period = 1ms;
    control.watch = [](progress const&) {
        ::kill(::getpid(), SIGTERM);
        return proceed::stop;
    };
    return control;
}

TEST_CASE("a signal that comes too late for a run is reported")
{
    ended_run const end = run_load(load_without_server(), signal_after_stop());
    CHECK(!end.partial);
    CHECK(end.interrupted);
}

TEST_CASE("a signal in the middle of a run is the run's, and not that of its caller")
{
    interruption stop;
    CHECK(!stop.asked());
    run_control control;
    control.period = 1ms;
    bool once = false;
    control.watch = [&once](progress const&) {
        if (!once)
            ::kill(::getpid(), SIGTERM);
        once = true;
        return proceed::go_on;
    };
    ended_run const end = run_load(load_without_server(), control);
    CHECK(end.partial);
    CHECK(end.interrupted);
    CHECK(!stop.asked()); // The run has taken it.
}

TEST_CASE(
    "an open loop is measured for its duration, or until its number of transactions has begun")
{
    load_spec spec = load_without_server();
    spec.duration = 300ms;
    ended_run end = run_load(spec);
    CHECK(end.measured == 300ms);
    CHECK(end.counts.attempts == 30);
    spec.duration = 10s;
    spec.transactions = 20;
    end = run_load(spec);
    CHECK(end.measured == 200ms);
    CHECK(end.counts.attempts == 20);
}

TEST_CASE("the warm-up does not count in the number of transactions")
{
    load_spec spec = load_without_server();
    spec.loop = closed{2};
    spec.warm_up = 50ms;
    spec.transactions = 40;
    ended_run const end = run_load(spec);
    CHECK(end.counts.attempts == 40);
}

TEST_CASE("a run that is ended in its warm-up has measured nothing")
{
    load_spec spec = load_without_server();
    spec.warm_up = 10s;
    run_control control;
    control.period = 1ms;
    unsigned looks = 0;
    control.watch = [&looks](progress const&) {
        if (++looks == 30)
            ::kill(::getpid(), SIGTERM);
        return proceed::go_on;
    };
    control.server_pids = {::getpid()};
    ended_run const end = run_load(spec, control);
    CHECK(end.partial);
    CHECK(end.measured == 0s);
    CHECK(end.drain == 0s);
    CHECK(end.counts.attempts == 0);
    CHECK(end.counts.cpu == 0s);
    CHECK(end.workers.at(0).cpu == 0s);
    CHECK(end.server_cpu == 0s);
}

TEST_CASE("a run with a start time began at that time, to the microsecond")
{
    load_spec spec = load_without_server();
    spec.warm_up = 50ms;
    spec.duration = 100ms;
    run_control control;
    control.start_at = std::chrono::system_clock::now() + 300ms;
    ended_run const end = run_load(spec, control);
    CHECK(end.started == *control.start_at + 50ms);
}

TEST_CASE("a start time that has passed is an error")
{
    run_control control;
    control.start_at = std::chrono::system_clock::now() - 3s;
    CHECK_THROWS_WITH_AS(
        static_cast<void>(run_load(load_without_server(), control)),
        doctest::Contains("--start-at"), std::runtime_error);
}

} // namespace
} // namespace cleat::bench::run_test
