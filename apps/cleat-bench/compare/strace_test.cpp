// The table of `strace -c`: its columns, and what is no table.

#include "compare/strace.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace cleat::bench::strace_test {
namespace {

TEST_CASE("a call is a line, with errors or without, and the total is none")
{
    call_counts const found =
        parse_summary("% time     seconds  usecs/call     calls    errors syscall\n"
                      "------ ----------- ----------- --------- --------- ----------------\n"
                      " 40.00    0.002000           2       800           recvfrom\n"
                      " 35.00    0.001750           2       790        12 epoll_wait\n"
                      " 25.00    0.001250           6       200       200 connect\n"
                      "------ ----------- ----------- --------- --------- ----------------\n"
                      "100.00    0.005000           2      1790       212 total\n");
    CHECK(found == call_counts{{"recvfrom", 800}, {"epoll_wait", 790}, {"connect", 200}});
}

TEST_CASE("a table without its total was not written to the end")
{
    CHECK_THROWS_AS(static_cast<void>(parse_summary("")), std::runtime_error);
    CHECK_THROWS_AS(
        static_cast<void>(
            parse_summary("% time     seconds  usecs/call     calls    errors syscall\n"
                          " 40.00    0.002000           2       800           recvfrom\n")),
        std::runtime_error);
}

} // namespace
} // namespace cleat::bench::strace_test
