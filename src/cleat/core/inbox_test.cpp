#include <cleat/core/inbox.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <thread>
#include <vector>

namespace cleat::inbox_test {
namespace {

struct node
{
    int value = 0;
    node* next = nullptr;
};

using nodes = inbox<node, &node::next>;

std::vector<int> values_of(node const* first)
{
    std::vector<int> found;
    for (; first != nullptr; first = first->next)
        found.push_back(first->value);
    return found;
}

} // namespace

TEST_CASE("nodes are taken in the order in which they were added, and only once")
{
    nodes box;
    CHECK(box.empty());
    CHECK(box.take() == nullptr);
    std::array<node, 3> all{{{1}, {2}, {3}}};
    for (node& each : all)
        box.push(each);
    CHECK(!box.empty());
    CHECK(values_of(box.take()) == std::vector<int>{1, 2, 3});
    CHECK(box.empty());
    box.push(all[1]); // A node may come back.
    CHECK(values_of(box.take()) == std::vector<int>{2});
}

TEST_CASE("nothing is lost between threads, and each thread's nodes keep their order")
{
    constexpr std::size_t count = 20'000;
    std::array<std::vector<node>, 2> made{std::vector<node>(count), std::vector<node>(count)};
    nodes box;
    std::array<std::thread, 2> threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
        threads[i] = std::thread{[&box, &own = made[i], sign = i == 0 ? 1 : -1] {
            for (std::size_t n = 0; n < own.size(); ++n) {
                own[n].value = sign * static_cast<int>(n + 1);
                box.push(own[n]);
            }
        }};
    std::array<int, 2> last{}; // Of each thread.
    while (last[0] != static_cast<int>(count) || last[1] != static_cast<int>(count))
        for (node* each = box.take(); each != nullptr; each = each->next) {
            int& before = last[each->value > 0 ? 0 : 1];
            int const number = each->value > 0 ? each->value : -each->value;
            REQUIRE(number == before + 1);
            before = number;
        }
    for (std::thread& each : threads)
        each.join();
    CHECK(box.empty());
}

} // namespace cleat::inbox_test
