#include "report/symbols.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

// What is looked up, by the names that the tests expect.
extern "C" {
int m = 7;              // In the file's data; and the mangled name of a type.
char zeroed_memory[64]; // In none of the file's bytes.
[[gnu::noinline]] int plain_function(int value)
{
    return value + m;
}
}

namespace cleat::locks {

[[gnu::noinline]] int readable_function(int value)
{
    return value - m;
}

namespace {

symbols of_this_process()
{
    std::ifstream from{"/proc/self/maps"};
    return symbols{std::string{std::istreambuf_iterator<char>{from}, {}}};
}

template <class T>
std::uint64_t address_of(T* what)
{
    return reinterpret_cast<std::uint64_t>(what);
}

} // namespace

TEST_CASE("an object has its variable's name, in data and in memory that begins as zeros")
{
    symbols here = of_this_process();
    CHECK(here.object(address_of(&m)) == "m");
    CHECK(here.object(address_of(&zeroed_memory[0])) == "zeroed_memory");
    CHECK(here.object(address_of(&zeroed_memory[8])) == "zeroed_memory+0x8");
}

TEST_CASE("what lies on the heap or the stack is nobody's")
{
    symbols here = of_this_process();
    std::string const heap(1000, 'x');
    int const stack = 0;
    CHECK(here.object(address_of(heap.data())).empty());
    CHECK(here.object(address_of(&stack)).empty());
    CHECK(here.object(0).empty());
}

TEST_CASE("a function has its name as people write it")
{
    symbols here = of_this_process();
    CHECK(here.of(address_of(&plain_function), false).back().function == "plain_function");
    CHECK(
        here.of(address_of(&readable_function), false)
            .back()
            .function.find("cleat::locks::readable_function") == 0);
    CHECK(here.of(0x10, true).back().function == "0x10");
}

} // namespace cleat::locks
