#include "input_reader.hpp"
#include "overload/handshake_line.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/task.hpp>
#include <cleat/net/worker.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cleat::fuzz {
namespace {

using namespace std::chrono_literals;
using app::claim_credit;
using app::cost_share;
using app::signature_cost;

constexpr std::size_t turns_max = 256;

// A line with its worker, and what it has to do: each handshake has one turn, or ends once, and
// those of one cost have their turns in the order in which they joined.
struct line_model
{
    line_model() { worker.set_handshake_time(0us); } // One in each pass.
    line_model(line_model&&) = delete;
    ~line_model()
    {
        worker.interrupt_all();
        CLEAT_ASSERT(line.size() == 0);
        CLEAT_ASSERT(ends == interrupts.size());
    }

    void join(signature_cost cost)
    {
        interrupts.push_back(std::make_unique<net::interrupt>(worker));
        waits.push_back(true);
        costs.push_back(cost);
        wait(interrupts.size() - 1);
    }

    net::detached wait(std::size_t number)
    {
        error_code const why =
            co_await app::handshake_line::turn{line, *interrupts[number], costs[number]};
        CLEAT_ASSERT(waits[number]);
        waits[number] = false;
        ++ends;
        if (why)
            co_return;
        for (std::size_t earlier = 0; earlier != number; ++earlier)
            CLEAT_ASSERT(!waits[earlier] || costs[earlier] != costs[number]);
        if (on_turn_left != 0 && --on_turn_left == 0)
            worker.stop();
        if (joins_at_turn != 0) {
            --joins_at_turn;
            join(costs[number]);
        }
    }

    void leave(std::size_t number)
    {
        if (number < interrupts.size())
            interrupts[number]->raise(error::handshake_timeout);
    }

    [[nodiscard]] std::size_t waiting(signature_cost cost) const
    {
        std::size_t found = 0;
        for (std::size_t i = 0; i != waits.size(); ++i)
            found += waits[i] && costs[i] == cost ? 1U : 0U;
        return found;
    }

    void check_sizes() const
    {
        for (signature_cost const cost : {signature_cost::low, signature_cost::high}) {
            std::size_t const own = waiting(cost);
            std::size_t const all = ends <= waits.size() ? waits.size() - ends : 0;
            CLEAT_ASSERT(line.size() == all);
            for (std::size_t const most : {0U, 1U, 8U, 64U})
                CLEAT_ASSERT(
                    line.is_full(cost, most, 1h) ==
                    (all != 0 && all >= most && own >= most / limits::line_reserve));
        }
    }

    net::worker worker;
    app::handshake_line line{worker};
    std::vector<std::unique_ptr<net::interrupt>> interrupts;
    std::vector<bool> waits;
    std::vector<signature_cost> costs;
    std::size_t ends = 0;
    std::size_t on_turn_left = 0;
    std::size_t joins_at_turn = 0;
};

// Joins and leaves, and then some turns, at which more join.
void run_line(input_reader reader)
{
    line_model model;
    model.joins_at_turn = reader.number(1) % 8;
    std::size_t const turns = reader.number(1);
    while (!reader.is_empty() && model.interrupts.size() < turns_max) {
        std::size_t const step = reader.number(1);
        if (step % 4 == 3)
            model.leave(step / 4);
        else
            model.join(step % 4 == 0 ? signature_cost::low : signature_cost::high);
        model.check_sizes();
    }
    if (turns == 0 || model.line.size() == 0)
        return;
    model.on_turn_left = 1 + turns % model.line.size();
    model.worker.run();
    model.check_sizes();
}

// Neither cost waits for ever, whatever each handshake takes.
void run_share(input_reader reader)
{
    cost_share machine;
    cost_share::duration gap{};
    while (!reader.is_empty()) {
        std::size_t const step = reader.number(3);
        cost_share::duration const time{static_cast<std::int64_t>((step >> 1U) * 10) - 1'000};
        bool const both_wait = (step & 1U) != 0;
        signature_cost const next = machine.next();
        machine.served(next, time, both_wait);
        cost_share::duration const counted =
            std::clamp<cost_share::duration>(time, 0ns, limits::line_cost_max);
        gap = both_wait && next == signature_cost::low ? gap + counted : 0ns;
        // A debt from before, and then the share of one that is as dear as any.
        CLEAT_ASSERT(gap <= 2 * limits::line_share * limits::line_cost_max);
        CLEAT_ASSERT(machine.owed() >= -limits::line_cost_max);
        CLEAT_ASSERT(machine.owed() <= 2 * limits::line_cost_max);
    }
}

// No more go ahead than there is credit for, with what comes back.
void run_credit(input_reader reader)
{
    claim_credit credit;
    claim_credit::time_point const begun{1h};
    claim_credit::time_point now = begun;
    CLEAT_ASSERT(credit.take(now));
    std::int64_t left = limits::claims_max - 1;
    std::int64_t renewals = 0; // Since `begun`, where a renewal may have been lost to the bound.
    while (!reader.is_empty()) {
        std::size_t const step = reader.number(2);
        now += std::chrono::milliseconds{step >> 4U};
        std::int64_t const earned = (now - begun) / limits::claim_renewal;
        left = std::min<std::int64_t>(left + earned - renewals + 1, limits::claims_max);
        renewals = earned;
        for (std::size_t i = 0; i != step % 16; ++i) {
            bool const taken = credit.take(now);
            CLEAT_ASSERT(!taken || left > 0);
            left -= taken ? 1 : 0;
            if (taken && i % 3 == 0) {
                credit.give_back();
                ++left;
            }
        }
    }
}

} // namespace

// The first byte says which of the line's machines has the rest of the input.
void handshake_line(octets input)
{
    input_reader reader{input};
    switch (reader.number(1) % 3) {
    case 0:
        return run_line(reader);
    case 1:
        return run_share(reader);
    default:
        return run_credit(reader);
    }
}

} // namespace cleat::fuzz
