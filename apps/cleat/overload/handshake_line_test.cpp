#include "overload/claim_credit.hpp"
#include "overload/handshake_line.hpp"

#include <cleat/core/busy_time_for_tests.hpp>
#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app::handshake_line_test {
namespace {

using namespace std::chrono_literals;

// Handshakes that wait in a worker's line. Each is a letter in `served` when its turn has come, and
// in `ended` when its wait ended before.
struct scene
{
    scene() { worker.set_handshake_time(0us); } // One in each pass.
    scene(scene&&) = delete;
    ~scene() { worker.interrupt_all(); } // Each coroutine ends, and frees its frame.

    net::interrupt& join(char name, signature_cost cost = signature_cost::high)
    {
        net::interrupt& made = *interrupts.emplace_back(std::make_unique<net::interrupt>(worker));
        wait(made, name, cost);
        return made;
    }

    net::detached wait(net::interrupt& interrupt, char name, signature_cost cost)
    {
        error_code const why = co_await handshake_line::turn{line, interrupt, cost};
        (why ? ended : served) += name;
        if (on_turn)
            on_turn();
        if (served.size() + ended.size() == stop_after)
            worker.stop();
    }

    void run(std::size_t turns)
    {
        stop_after = turns;
        worker.run();
    }

    // So many times as long as the worker has run since then: no wait of a slow machine is longer.
    [[nodiscard]] std::chrono::milliseconds times_since(
        int factor, net::worker::clock::time_point then) const
    {
        return std::chrono::ceil<std::chrono::milliseconds>(factor * (worker.now() - then));
    }

    net::worker worker;
    handshake_line line{worker};
    std::string served;
    std::string ended;
    std::size_t stop_after = 0;
    std::function<void()> on_turn;
    std::vector<std::unique_ptr<net::interrupt>> interrupts;
};

TEST_CASE("handshakes have their turn in the order in which they came")
{
    scene s;
    for (char const name : {'a', 'b', 'c'})
        s.join(name);
    CHECK(s.line.size() == 3);
    CHECK(s.served.empty());
    s.run(3);
    CHECK(s.served == "abc");
    CHECK(s.line.size() == 0);
}

TEST_CASE("one whose deadline passes leaves the line, wherever it stands")
{
    for (std::size_t const left : {0U, 1U, 2U}) {
        scene s;
        for (char const name : {'a', 'b', 'c'})
            s.join(name);
        s.interrupts[left]->raise(error::handshake_timeout);
        CHECK(s.ended == std::string(1, "abc"[left]));
        s.run(3);
        CHECK(s.served == std::string{"abc"}.erase(left, 1));
    }
}

TEST_CASE("a worker that stops ends those that wait, and the line may end before it")
{
    scene s;
    for (char const name : {'a', 'b', 'c'})
        s.join(name);
    s.run(1);
    CHECK(s.served == "a");
    CHECK(s.ended.size() == 2);
    net::worker longer;
    {
        handshake_line line{longer};
        net::interrupt interrupt{longer};
        auto const wait = [](handshake_line& l, net::interrupt& i) -> net::detached {
            static_cast<void>(co_await handshake_line::turn{l, i, signature_cost::low});
        };
        wait(line, interrupt);
        interrupt.raise(error::stopped);
        CHECK(line.size() == 0);
    }
}

TEST_CASE("it is crowded while handshakes wait, and for the pass after a crowd was noted")
{
    scene s;
    CHECK_FALSE(s.line.is_crowded());
    s.line.note_crowd();
    CHECK(s.line.is_crowded());
    std::string crowded; // After each turn.
    s.on_turn = [&] { crowded += s.line.is_crowded() ? 'y' : 'n'; };
    for (char const name : {'a', 'b', 'c', 'd'})
        s.join(name);
    s.run(4);
    CHECK(crowded == "yyyn");
}

TEST_CASE("it is full when as many wait as may, and never when none waits")
{
    scene s;
    CHECK_FALSE(s.line.is_full(signature_cost::high, 0, 1h));
    while (s.interrupts.size() != 100) {
        CHECK_FALSE(s.line.is_full(signature_cost::high, 100, 1h));
        s.join('x');
    }
    CHECK(s.line.is_full(signature_cost::high, 100, 1h));
    s.interrupts.front()->raise(error::handshake_timeout);
    CHECK_FALSE(s.line.is_full(signature_cost::high, 100, 1h));
}

TEST_CASE("it is full where a new one would wait for too long, as the last one served has shown")
{
    scene s;
    bool is_full = false; // With 50 behind those that were served.
    s.on_turn = [&] {
        keep_busy(2ms);
        if (s.served.size() == limits::line_sample_min + 1)
            is_full = s.line.is_full(signature_cost::high, 100, 90ms) &&
                      !s.line.is_full(signature_cost::high, 100, 1h);
    };
    for (std::size_t i = 0; i != limits::line_sample_min + 51; ++i)
        s.join('x');
    CHECK_FALSE(s.line.is_full(signature_cost::high, 100, 90ms)); // Nothing is known yet.
    s.run(limits::line_sample_min + 51);
    CHECK(is_full); // 50 places of 2 ms at least are 100, and the first one waited for 66.
}

TEST_CASE("a line that a pause of the process has made slow is fast again")
{
    scene s;
    std::size_t const many = limits::line_sample_min + 8;
    for (std::size_t i = 0; i != many; ++i)
        s.join('x');
    keep_busy(100ms); // The pause.
    std::string full; // After each turn.
    s.on_turn = [&] { full += s.line.is_full(signature_cost::high, 100, 10ms) ? 'y' : 'n'; };
    s.run(many);
    CHECK(full[limits::line_sample_min] == 'y');
    full.clear();
    net::worker::clock::time_point const joined = s.worker.now();
    for (std::size_t i = 0; i != 20; ++i)
        s.join('x');
    // The wait of the first one is the estimate for each of the 19 behind it, at most.
    s.on_turn = [&] {
        full += s.line.is_full(signature_cost::high, 100, s.times_since(19, joined)) ? 'y' : 'n';
    };
    s.run(many + 20);
    CHECK(full == std::string(20, 'n'));
}

TEST_CASE("the wait of the first ones tells nothing of those behind them")
{
    scene s;
    net::worker::clock::time_point const joined = s.worker.now();
    for (int i = 0; i != 60; ++i)
        s.join('x');
    keep_busy(20ms);      // The rest of the pass in which they joined.
    bool is_full = false; // It would be, if each of 59 waited for as long as the first one.
    s.on_turn = [&] {
        is_full = is_full || s.line.is_full(signature_cost::high, 100, s.times_since(5, joined));
    };
    s.run(60);
    CHECK_FALSE(is_full);
}

// Handshakes of the two costs, 'e' and 'r'. Each takes some time at its turn.
struct two_costs : scene
{
    two_costs()
    {
        on_turn = [this] { spend(); };
    }

    void spend() const
    {
        if (!served.empty())
            keep_busy(served.back() == 'e' ? 100us : 1ms);
    }

    void join_some(char name, int count)
    {
        for (int i = 0; i != count; ++i)
            join(name, name == 'e' ? signature_cost::low : signature_cost::high);
    }
};

TEST_CASE("a cheap handshake goes ahead of dear ones that came before it")
{
    two_costs s;
    s.join_some('r', 5);
    s.join_some('e', 3);
    s.run(8);
    CHECK(s.served == "eeerrrrr");
}

TEST_CASE("dear handshakes are served beside a flood of cheap ones that does not end")
{
    two_costs s;
    s.join_some('r', 5);
    s.join_some('e', 100);
    std::size_t waiting = 0; // At the end.
    s.on_turn = [&] {
        s.spend();
        if (s.served.ends_with('e'))
            s.join_some('e', 1); // The flood.
        else if (std::ranges::count(s.served, 'r') == 5 && waiting == 0) {
            waiting = s.line.size();
            s.worker.stop();
        }
    };
    s.run(0); // Until then.
    CHECK(std::ranges::count(s.served, 'r') == 5);
    CHECK(waiting >= 99);
}

TEST_CASE("a line that one cost has filled has some places for the other")
{
    two_costs s;
    s.join_some('e', 80);
    CHECK(s.line.is_full(signature_cost::low, 80, 1h));
    for (int i = 0; i != 10; ++i) {
        CHECK_FALSE(s.line.is_full(signature_cost::high, 80, 1h));
        s.join_some('r', 1);
    }
    CHECK(s.line.is_full(signature_cost::high, 80, 1h));
}

TEST_CASE("a long wait of one cost does not shed handshakes of the other")
{
    two_costs s;
    s.join_some('r', 1);
    s.join_some('e', 1);
    keep_busy(20ms);
    s.on_turn = [&] { // A pass has begun, and so the worker has a new time.
        if (s.served != "e")
            return;
        s.join_some('e', 1);
        CHECK(s.line.is_full(signature_cost::high, 100, 10ms));
        CHECK_FALSE(s.line.is_full(signature_cost::low, 100, 10ms));
    };
    s.run(3);
    CHECK(s.served == "eer");
}

TEST_CASE("false claims use up the credit, and true ones do not")
{
    claim_credit credit;
    claim_credit::time_point const now{1h};
    for (std::uint32_t i = 0; i != 10 * limits::claims_max; ++i) {
        REQUIRE(credit.take(now));
        credit.give_back();
    }
    for (std::uint32_t i = 0; i != limits::claims_max; ++i)
        REQUIRE(credit.take(now));
    CHECK_FALSE(credit.take(now));
    credit.give_back();
    CHECK(credit.take(now));
    CHECK_FALSE(credit.take(now + limits::claim_renewal - 1ms));
    CHECK(credit.take(now + limits::claim_renewal));
    CHECK_FALSE(credit.take(now + limits::claim_renewal));
}

TEST_CASE("credit that comes back with time has the same bound")
{
    claim_credit credit;
    for (std::uint32_t i = 0; i != limits::claims_max; ++i)
        REQUIRE(credit.take(claim_credit::time_point{1h}));
    claim_credit::time_point const later{1'000h};
    for (std::uint32_t i = 0; i != limits::claims_max; ++i)
        REQUIRE(credit.take(later));
    CHECK_FALSE(credit.take(later));
}

} // namespace
} // namespace cleat::app::handshake_line_test
