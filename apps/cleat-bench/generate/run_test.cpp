// A run: what of it is counted, and the signals that end it, of which none is lost.

#include "generate/run.hpp"
#include "system/interruption.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// Nobody listens there: every transaction fails, and the run goes on all the same.
load_spec to_nobody()
{
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(1);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    load_spec use;
    *reinterpret_cast<sockaddr_in*>(&use.to.storage) = in;
    use.to.size = sizeof in;
    use.workers = 1;
    use.arrive = open{{{10s, 100, 100}}, arrivals::constant, 1};
    return use;
}

// Whoever watches stops the run, and a signal comes before it has ended: nobody looks for one then.
conduct signal_behind_the_stop()
{
    conduct how;
    how.every = 1ms;
    how.watch = [](glimpse const&) {
        ::kill(::getpid(), SIGTERM);
        return proceed::stop;
    };
    return how;
}

TEST_CASE("a signal that comes too late for a run is told")
{
    ended_run const end = run_load(to_nobody(), signal_behind_the_stop());
    CHECK(!end.partial);
    CHECK(end.interrupted);
}

TEST_CASE("who holds signals back learns of one that came in the middle of a run")
{
    interruption stop;
    CHECK(!stop.asked());
    conduct how;
    how.every = 1ms;
    bool once = false;
    how.watch = [&once](glimpse const&) {
        if (!once)
            ::kill(::getpid(), SIGTERM);
        once = true;
        return proceed::on;
    };
    ended_run const end = run_load(to_nobody(), how);
    CHECK(end.partial);
    CHECK(end.interrupted);
    CHECK(!stop.asked()); // The run has taken it.
}

TEST_CASE(
    "an open loop is measured for its own time, a number of it for as long as it takes to begin")
{
    load_spec use = to_nobody();
    use.duration = 300ms;
    ended_run end = run_load(use);
    CHECK(end.measured == 300ms);
    CHECK(end.counts.attempts == 30);
    use.duration = 10s;
    use.transactions = 20;
    end = run_load(use);
    CHECK(end.measured == 200ms);
    CHECK(end.counts.attempts == 20);
}

TEST_CASE("a warm-up uses nothing of a number up")
{
    load_spec use = to_nobody();
    use.arrive = closed{2};
    use.warm_up = 50ms;
    use.transactions = 40;
    ended_run const end = run_load(use);
    CHECK(end.counts.attempts == 40);
}

TEST_CASE("a run that is ended in its warm-up has measured nothing")
{
    load_spec use = to_nobody();
    use.warm_up = 10s;
    conduct how;
    how.every = 1ms;
    unsigned looks = 0;
    how.watch = [&looks](glimpse const&) {
        if (++looks == 30)
            ::kill(::getpid(), SIGTERM);
        return proceed::on;
    };
    how.server_pids = {::getpid()};
    ended_run const end = run_load(use, how);
    CHECK(end.partial);
    CHECK(end.measured == 0s);
    CHECK(end.drain == 0s);
    CHECK(end.counts.attempts == 0);
    CHECK(end.counts.cpu == 0s);
    CHECK(end.workers.at(0).cpu == 0s);
    CHECK(end.server_cpu == 0s);
}

TEST_CASE("a run that was given its time to begin says that time, to the microsecond")
{
    load_spec use = to_nobody();
    use.warm_up = 50ms;
    use.duration = 100ms;
    conduct how;
    how.start_at = std::chrono::system_clock::now() + 300ms;
    ended_run const end = run_load(use, how);
    CHECK(end.started == *how.start_at + 50ms);
}

TEST_CASE("a time to begin that has passed is an error")
{
    conduct how;
    how.start_at = std::chrono::system_clock::now() - 3s;
    CHECK_THROWS_WITH_AS(
        static_cast<void>(run_load(to_nobody(), how)), doctest::Contains("--start-at"),
        std::runtime_error);
}

} // namespace
} // namespace cleat::bench
