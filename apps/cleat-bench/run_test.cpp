// A run and the signals that end it: one that comes too late for the run is not lost.

#include "compare/interruption.hpp"
#include "run.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>

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

} // namespace
} // namespace cleat::bench
