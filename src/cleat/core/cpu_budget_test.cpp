#include <cleat/core/cpu_budget.hpp>
#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>

#include <chrono>

namespace cleat::cpu_budget_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// A process with a quota of 3 ms in each 10, and the clocks that its budget reads.
struct process
{
    cpu_budget::clock::time_point now{};
    nanoseconds used{};
    cpu_budget budget{{.cpus = 0.3, .period = 10ms}, now, used};
    nanoseconds credit_max{static_cast<long>(3'000'000 * limits::cpu_credit_part)};

    void pass(nanoseconds time, nanoseconds work)
    {
        now += time;
        used += work;
        budget.update(now, used);
    }
};

} // namespace

TEST_CASE("a process begins with a part of its quota")
{
    process p;
    CHECK(p.budget.has_credit());
    CHECK(p.budget.time_to_credit() == 0ns);
    p.pass(0ms, p.credit_max + 50us);
    CHECK_FALSE(p.budget.has_credit());
}

TEST_CASE("time without work brings credit, and never more than a part of the quota")
{
    process p;
    p.pass(1h, 0ms);
    p.pass(0ms, p.credit_max - 1us);
    CHECK(p.budget.has_credit());
    p.pass(0ms, 2us);
    CHECK_FALSE(p.budget.has_credit());
}

TEST_CASE("credit that is used up comes back as a whole")
{
    process p;
    p.pass(0ms, p.credit_max + 150us);
    CHECK_FALSE(p.budget.has_credit());
    nanoseconds const wait = p.budget.time_to_credit();
    REQUIRE(wait > 100us);
    p.pass(wait, 0ms);
    CHECK(p.budget.has_credit());
    CHECK(p.budget.time_to_credit() == 0ns);
    p.pass(0ms, p.credit_max - 50us);
    CHECK(p.budget.has_credit()); // Until all of it is used up.
    p.pass(0ms, 100us);
    CHECK_FALSE(p.budget.has_credit());
}

TEST_CASE("one wait is enough, although the wake-up uses CPU time")
{
    for (double const cpus : {0.1, 0.3, 0.9}) {
        process p{.budget{{.cpus = cpus, .period = 10ms}, {}, {}}};
        p.pass(0ms, 5ms);
        REQUIRE_FALSE(p.budget.has_credit());
        p.pass(p.budget.time_to_credit(), 40us);
        CHECK(p.budget.has_credit());
    }
}

TEST_CASE("work that waits for credit stays below the quota in every period")
{
    constexpr auto signature = 500us;
    process p;
    for (int period = 0; period != 1000; ++period) {
        auto const end = p.now + 10ms;
        nanoseconds const used_before = p.used;
        while (p.now < end) {
            if (p.budget.has_credit())
                p.pass(signature, signature);
            else
                p.pass(p.budget.time_to_credit(), 0ms);
        }
        if (period == 0)
            continue; // It has the credit of a quiet time.
        CHECK(p.used - used_before <= 3ms + 2 * signature);
        CHECK(p.used - used_before >= 2ms);
    }
    auto const quota = 0.3 * (p.now - cpu_budget::clock::time_point{});
    CHECK(p.used >= quota * limits::cpu_quota_share * 0.99);
    CHECK(p.used <= quota * limits::cpu_quota_share * 1.01);
}

TEST_CASE(
    "where other work uses up the quota, work that can wait goes on, once in a period at least")
{
    process p;
    p.pass(0ms, 800us);
    int turns = 0;
    for (int ms = 0; ms != 1000; ++ms) {
        p.pass(1ms, 300us);
        turns += p.budget.has_credit() ? 1 : 0;
    }
    CHECK(turns >= 100);
    CHECK(turns <= 220);
    CHECK(p.budget.time_to_credit() <= 10ms);
}

} // namespace cleat::cpu_budget_test
