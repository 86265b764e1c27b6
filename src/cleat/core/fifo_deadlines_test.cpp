#include <cleat/core/fifo_deadlines.hpp>

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cleat::fifo_deadlines_test {
namespace {

using namespace std::chrono_literals;
using time_point = deadline::clock::time_point;

time_point const start{1h};

// Derives from deadline, as connections do, and adds its name to a string when it expires.
struct named : deadline
{
    named(char c, std::string& log) : deadline{&named::on_expired}, name{c}, order{&log} {}

    static void on_expired(deadline& d) noexcept
    {
        named& self = static_cast<named&>(d);
        self.order->push_back(self.name);
    }

    char name;
    std::string* order;
};

} // namespace

TEST_CASE("deadlines expire in the order in which they were armed, and not before their time")
{
    std::string order;
    named a{'a', order};
    named b{'b', order};
    fifo_deadlines deadlines{10s};
    CHECK(deadlines.next() == std::nullopt);

    deadlines.arm(a, start);
    deadlines.arm(b, start + 1s);
    CHECK(deadlines.next() == start + 10s);
    deadlines.expire(start + 10s - 1ns);
    CHECK(order.empty());
    deadlines.expire(start + 10s);
    CHECK(order == "a");
    CHECK_FALSE(a.armed());
    CHECK(deadlines.next() == start + 11s);
    deadlines.expire(start + 1h);
    CHECK(order == "ab");
    CHECK(deadlines.empty());
}

TEST_CASE("a deadline that is armed again expires last")
{
    std::string order;
    named a{'a', order};
    named b{'b', order};
    named c{'c', order};
    fifo_deadlines deadlines{10s};
    for (named* each : {&a, &b, &c})
        deadlines.arm(*each, start);
    deadlines.arm(a, start + 5s);
    deadlines.expire(start + 10s);
    CHECK(order == "bc");
    CHECK(a.expiry() == start + 15s);
    deadlines.expire(start + 15s);
    CHECK(order == "bca");
}

TEST_CASE("a cancelled deadline does not expire, and cancelling twice does no harm")
{
    std::string order;
    named a{'a', order};
    named b{'b', order};
    fifo_deadlines deadlines{1s};
    deadlines.arm(a, start);
    deadlines.arm(b, start);
    deadlines.cancel(a);
    deadlines.cancel(a);
    CHECK_FALSE(a.armed());
    deadlines.expire(start + 1s);
    CHECK(order == "b");
}

TEST_CASE("destroying a deadline leaves the others in the queue")
{
    std::string order;
    named a{'a', order};
    named c{'c', order};
    fifo_deadlines deadlines{1s};
    {
        named b{'b', order};
        for (named* each : {&a, &b, &c})
            deadlines.arm(*each, start);
    }
    deadlines.expire(start + 1s);
    CHECK(order == "ac");
}

TEST_CASE("destroying a queue disarms its deadlines")
{
    deadline d;
    {
        fifo_deadlines deadlines{1s};
        deadlines.arm(d, start);
        CHECK(d.armed());
    }
    CHECK_FALSE(d.armed());
}

TEST_CASE("arming in a second queue takes a deadline out of the first")
{
    deadline d;
    fifo_deadlines handshake{1s};
    fifo_deadlines idle{1min};
    handshake.arm(d, start);
    idle.arm(d, start);
    CHECK(handshake.empty());
    CHECK(idle.next() == start + 1min);
}

TEST_CASE("a deadline may arm itself again when it expires, and expire still ends")
{
    fifo_deadlines deadlines{1s};
    std::array<deadline, 3> all;
    for (deadline& each : all)
        deadlines.arm(each, start);
    int calls = 0;
    // The clock is so far behind that the new deadline has expired as well.
    deadlines.expire(start + 10s, [&](deadline& d) noexcept {
        CHECK_FALSE(d.armed());
        deadlines.arm(d, start);
        ++calls;
    });
    CHECK(calls == 3);
    CHECK(deadlines.next() == start + 1s);
}

TEST_CASE("a deadline that expires may cancel, destroy and arm others that have expired")
{
    fifo_deadlines deadlines{1s};
    deadline first;
    auto destroyed = std::make_unique<deadline>();
    deadline cancelled;
    deadline pushed_back;
    deadline last;
    for (deadline* each : {&first, destroyed.get(), &cancelled, &pushed_back, &last})
        deadlines.arm(*each, start);

    std::string order;
    deadlines.expire(start + 1s, [&](deadline& d) noexcept {
        order += &d == &first ? "first " : &d == &last ? "last " : "wrong ";
        if (&d != &first)
            return;
        destroyed.reset();
        cancelled.cancel();
        deadlines.arm(pushed_back, start + 1s);
    });
    CHECK(order == "first last ");
    CHECK(pushed_back.armed());
    CHECK(deadlines.next() == start + 2s);
}

TEST_CASE("a deadline that expires may destroy itself")
{
    struct connection : deadline
    {
        explicit connection(int& alive) : deadline{&connection::end}, count{&alive} { ++*count; }
        ~connection() { --*count; }
        static void end(deadline& d) noexcept { delete static_cast<connection*>(&d); }
        int* count;
    };
    int alive = 0;
    fifo_deadlines deadlines{1s};
    for (int i = 0; i != 3; ++i)
        deadlines.arm(*new connection{alive}, start); // NOLINT: it deletes itself
    CHECK(alive == 3);
    deadlines.expire(start + 1s);
    CHECK(alive == 0);
}

TEST_CASE("an older `now` does not break the order")
{
    std::string order;
    named a{'a', order};
    named b{'b', order};
    fifo_deadlines deadlines{10s};
    deadlines.arm(a, start);
    deadlines.arm(b, start - 5s);
    CHECK(b.expiry() == a.expiry());
    deadlines.expire(start + 10s);
    CHECK(order == "ab");
}

TEST_CASE("the longest duration does not wrap into the past")
{
    deadline d;
    fifo_deadlines deadlines{std::chrono::nanoseconds::max()};
    deadlines.arm(d, start);
    CHECK(deadlines.next() == time_point::max());
    deadlines.expire(start + 24h, [](deadline&) noexcept { FAIL_CHECK("expired"); });
    CHECK(d.armed());
}

} // namespace cleat::fifo_deadlines_test
