#include "report/off_cpu.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include <sys/syscall.h>

namespace cleat::locks::off_cpu_test {

TEST_CASE("a thread that runs, or waits for a core, is in no system call")
{
    CHECK(parse_kernel_place("running\n").runs);
}

TEST_CASE("a blocked thread has a system call, and a futex its address")
{
    std::string const futex =
        std::to_string(SYS_futex) + " 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffe1000 0x7f1234\n";
    kernel_place const waits = parse_kernel_place(futex);
    CHECK_FALSE(waits.runs);
    CHECK(is_futex(waits.call));
    CHECK(waits.address == 0x7f00);
    CHECK(waits.code == 0x7f1234);
    kernel_place const reads = parse_kernel_place(
        std::to_string(SYS_read) + " 0x3 0x7f00 0x1 0x0 0x0 0x0 0x7ffe1000 0x7f1234");
    CHECK(call_name(reads.call) == "read");
    CHECK(reads.address == 0);
}

TEST_CASE("a page fault is no system call")
{
    kernel_place const found = parse_kernel_place("-1 0x7ffe1000 0x401234\n");
    CHECK(found.call == -1);
    CHECK(found.code == 0x401234);
    CHECK(call_name(found.call) == "the kernel");
    CHECK(call_name(100'000) == "system call 100000");
}

TEST_CASE("a record is read as it was written")
{
    off_cpu_record made;
    made.began_ns = 40;
    made.samples = 7;
    made.sampled_ns = 1000;
    made.no_core_ns = 5;
    made.not_sampled = "/proc/1/task/1/syscall: Permission denied";
    made.waits.push_back({12, "a thread", SYS_futex, 0x7f00, 0x1234, 900, 6});
    made.waits.push_back({13, "", -1, 0, 0, 100, 1});
    off_cpu_record const found = parse_off_cpu(text_of(made));
    CHECK(found.began_ns == 40);
    CHECK(found.samples == 7);
    CHECK(found.sampled_ns == 1000);
    CHECK(found.no_core_ns == 5);
    CHECK(found.not_sampled == made.not_sampled);
    CHECK(found.waits == made.waits);
}

TEST_CASE("a thread's name that is no UTF-8 has replacement characters")
{
    off_cpu_record const found =
        parse_off_cpu("cleat-locks waits 2\n9 1 2 3 \n12 0 0 0 5 1 caf\xe9\n");
    CHECK(found.waits.at(0).thread == "caf\xef\xbf\xbd");
}

TEST_CASE("a record that is cut or damaged says where")
{
    CHECK_THROWS_WITH_AS(
        static_cast<void>(parse_off_cpu("")), "no record of waits", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(parse_off_cpu("cleat-locks waits 2\n9 1 2 3 \n12 x 0 0 0 0 name\n")),
        "\"x\" is no number", std::runtime_error);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(parse_off_cpu("cleat-locks waits 2\n9 1 2 3 \n12 1 0")),
        "\"\" is no number", std::runtime_error);
}

} // namespace cleat::locks::off_cpu_test
