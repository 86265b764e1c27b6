// measure: the handle of a run, which is the same for every arm.
//
// An arm has a type `stream`, a coroutine `connect(number)` that gives a connected one with its
// handshake done, and `executor(number)`, where the client of that number lives.

#pragma once

#include "load.hpp"
#include "traffic.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <latch>
#include <memory>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace study {

constexpr std::uint64_t handshakes_to_warm_up = 8; // Of each thread.

/// stopwatch measures one phase. It is started and read by the main thread, which does no work.
class stopwatch
{
public:
    [[nodiscard]] span read() const
    {
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - begun_;
        return {passed.count(), cpu_seconds() - cpu_begun_};
    }

private:
    static double cpu_seconds()
    {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        auto const seconds = [](timeval const& t) {
            return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
        };
        return seconds(used.ru_utime) + seconds(used.ru_stime);
    }

    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    double cpu_begun_ = cpu_seconds();
};

template <class Arm>
asio::awaitable<void> connect_once(
    Arm& arm, std::size_t number, std::unique_ptr<typename Arm::stream>& made, std::latch& done)
{
    made = std::make_unique<typename Arm::stream>(co_await arm.connect(number));
    done.count_down();
}

/// connect_often is connect, full handshake and close, one after the other.
template <class Arm>
asio::awaitable<void> connect_often(
    Arm& arm, std::size_t number, std::uint64_t times, std::latch& done)
{
    for (; times != 0; --times) {
        typename Arm::stream stream = co_await arm.connect(number);
        co_await close(stream);
    }
    done.count_down();
}

template <class Arm>
span many_handshakes(Arm& arm, std::uint64_t count, std::size_t at_once)
{
    std::latch done{static_cast<std::ptrdiff_t>(at_once)};
    stopwatch const watch;
    for (std::size_t i = 0; i < at_once; ++i) {
        std::uint64_t const times = count / at_once + (i < count % at_once ? 1 : 0);
        asio::co_spawn(arm.executor(i), connect_often(arm, i, times, done), or_give_up);
    }
    done.wait();
    return watch.read();
}

/// messages_after_handshakes connects all, and only then sends, so that neither is in the other's
/// time.
template <class Arm>
figures messages_after_handshakes(Arm& arm, load const& what)
{
    figures found;
    auto const count = static_cast<std::ptrdiff_t>(what.connections);
    std::vector<std::unique_ptr<typename Arm::stream>> streams(what.connections);
    std::latch connected{count};
    stopwatch const connecting;
    for (std::size_t i = 0; i < what.connections; ++i)
        asio::co_spawn(arm.executor(i), connect_once(arm, i, streams[i], connected), or_give_up);
    connected.wait();
    found.handshakes = connecting.read();

    std::latch sent{count};
    stopwatch const sending;
    for (std::unique_ptr<typename Arm::stream>& each : streams) {
        auto const where = each->get_executor();
        asio::co_spawn(where, send(std::move(each), what, sent), or_give_up);
    }
    sent.wait();
    found.messages = sending.read();
    return found;
}

/// measure gives what the clients took and what the server has seen, which must be all.
///
/// A thread's first handshakes seed its random numbers and fill the library's caches, which takes
/// longer than many handshakes after them: they are made before, and not counted.
template <class Arm>
figures measure(Arm& arm, load const& what)
{
    std::uint64_t const first = handshakes_to_warm_up * what.threads;
    many_handshakes(arm, first, what.threads);
    bool const messages = what.handshakes == 0;
    figures found;
    if (messages)
        found = messages_after_handshakes(arm, what);
    else
        found.handshakes = many_handshakes(arm, what.handshakes, what.connections);
    found.handshakes_verified = arm.found().connections - first;
    found.messages_verified = arm.found().messages;
    if (found.handshakes_verified != (messages ? what.connections : what.handshakes) ||
        found.messages_verified != (messages ? what.connections * what.messages : 0))
        give_up("the server has not seen everything that was sent");
    return found;
}

} // namespace study
