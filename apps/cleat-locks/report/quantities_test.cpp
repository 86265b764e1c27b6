#include "report/quantities.hpp"

#include <doctest/doctest.h>

namespace cleat::locks::quantities_test {

TEST_CASE("a time has three digits that count, and the unit that fits")
{
    CHECK(time_text(0) == "0");
    CHECK(time_text(7) == "7 ns");
    CHECK(time_text(999.4) == "999 ns");
    CHECK(time_text(999.6) == "1.00 us");
    CHECK(time_text(45'600) == "45.6 us");
    CHECK(time_text(123e6) == "123 ms");
    CHECK(time_text(61.5e9) == "61.5 s");
}

TEST_CASE("a count is whole until it is long")
{
    CHECK(count_text(9999) == "9999");
    CHECK(count_text(13'800) == "13.8k");
    CHECK(count_text(5'600'000) == "5.60M");
    CHECK(count_text(7'000'000'000) == "7.00G");
}

TEST_CASE("a rate has three digits that count, also where it is less than one in a second")
{
    CHECK(rate_text(0).empty());
    CHECK(rate_text(0.4) == "0.40/s");
    CHECK(rate_text(12.34) == "12.3/s");
    CHECK(rate_text(904.7) == "905/s");
    CHECK(rate_text(9999.7) == "10.0k/s");
    CHECK(rate_text(50'000) == "50.0k/s");
}

TEST_CASE("a percentage of nothing is nothing, not a zero among zeros")
{
    CHECK(percent_text(0.04).empty());
    CHECK(percent_text(0.05) == "0.1");
    CHECK(percent_text(12.34) == "12.3");
}

TEST_CASE("a short name has no arguments, no template's and no return type")
{
    CHECK(short_name("main") == "main");
    CHECK(short_name("cleat::net::worker::run()") == "cleat::net::worker::run");
    CHECK(short_name("void std::vector<int, a<b> >::push_back(int&&)") == "std::vector::push_back");
    CHECK(short_name("std::map<int, x>::iterator find<x>(x const&) const") == "find");
    CHECK(short_name("a::(anonymous namespace)::hold_it(truth&, unsigned long)") == "a::hold_it");
    CHECK(short_name("pthread_mutex_lock") == "pthread_mutex_lock");
    CHECK(short_name("libc.so.6+0x1234") == "libc.so.6+0x1234");
}

TEST_CASE("a short name keeps the signs of an operator")
{
    CHECK(short_name("a::operator()(int) const") == "a::operator()");
    CHECK(short_name("void a::operator()<int>(int) const &") == "a::operator()");
    CHECK(short_name("std::ostream& std::operator<< <char>(std::ostream&)") == "std::operator<<");
    CHECK(short_name("a::operator->() const") == "a::operator->");
    CHECK(short_name("a::operator[](unsigned long)") == "a::operator[]");
    CHECK(short_name("operator new(unsigned long)") == "operator new");
    CHECK(short_name("a::operator bool() const") == "a::operator bool");
    CHECK(short_name("my_operator(int)") == "my_operator");
}

TEST_CASE("a short name of a lambda has its function's name")
{
    CHECK(
        short_name("serve(int)::{lambda(std::pair<int, b>)#2}::operator()(int) const") ==
        "serve::{lambda}::operator()");
    CHECK(short_name("serve::{closure#0}::{closure:x#1}") == "serve::{closure}::{closure}");
}

TEST_CASE("a short name has no clone's suffix")
{
    CHECK(short_name("accept(accept(s&)::Frame*) [clone .actor]") == "accept");
    CHECK(short_name("free_it(x*) [clone .part.0] [clone .cold]") == "free_it");
}

} // namespace cleat::locks::quantities_test
