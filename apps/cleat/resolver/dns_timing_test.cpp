#include "resolver/dns_timing.hpp"

#include <doctest/doctest.h>

namespace cleat::app::dns_timing_test {
namespace {

using std::chrono::seconds;

dns_answer answer_with(seconds ttl)
{
    dns_answer made;
    made.ttl = ttl;
    return made;
}

} // namespace

TEST_CASE("a name is looked up again when its TTL is over, within the bounds")
{
    dns_times const times{seconds{5}, seconds{60}};
    CHECK(next_lookup(answer_with(seconds{30}), times) == seconds{30});
    CHECK(next_lookup(answer_with(seconds{3}), times) == seconds{5});
    CHECK(next_lookup(answer_with(seconds{0}), times) == seconds{5});
    CHECK(next_lookup(answer_with(seconds{86400}), times) == seconds{60});
    dns_times const fixed{seconds{10}, seconds{10}};
    CHECK(next_lookup(answer_with(seconds{1}), fixed) == seconds{10});
}

TEST_CASE("the hosts file has no TTL")
{
    dns_answer in_file;
    in_file.is_from_file = true;
    CHECK(next_lookup(in_file, {}) == file_interval);
    CHECK(next_lookup(in_file, {seconds{20}, seconds{60}}) == seconds{20});
    CHECK(next_lookup(in_file, {seconds{1}, seconds{2}}) == seconds{2});
}

TEST_CASE("after failures the attempts become rarer")
{
    dns_times const times{seconds{1}, seconds{3600}};
    CHECK(next_attempt(1, times) == seconds{1});
    CHECK(next_attempt(2, times) == seconds{2});
    CHECK(next_attempt(5, times) == seconds{16});
    CHECK(next_attempt(6, times) == seconds{30});
    CHECK(next_attempt(4'000'000'000U, times) == seconds{30});
    CHECK(next_attempt(100, {seconds{1}, seconds{4}}) == seconds{4});
    CHECK(next_attempt(100, {seconds{40}, seconds{50}}) == seconds{40});
}

} // namespace cleat::app::dns_timing_test
