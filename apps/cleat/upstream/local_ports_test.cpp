#include "upstream/local_ports.hpp"

#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include <sys/socket.h>

namespace cleat::app::local_ports_test {

TEST_CASE("the kernel's range is read as the kernel writes it")
{
    CHECK(parse_local_ports("32768\t60999\n") == local_ports{32768, 60999});
    CHECK(parse_local_ports("1 65535") == local_ports{1, 65535});
    for (std::string_view const text :
         {"", "\n", "32768", "32768\t", "32768\t\n", "60999\t32768\n", "0\t10\n", "1\t65536\n",
          "-1\t10\n", "1\t2x\n", "a\tb\n"})
        CHECK_MESSAGE(!parse_local_ports(text), text);
    CHECK(read_local_ports()); // Of this machine.
}

TEST_CASE("the slices of all workers are the range, each port in one of them")
{
    local_ports const all{32768, 60999};
    for (std::size_t const workers : {2U, 3U, 7U, 64U}) {
        unsigned next = all.first;
        for (std::size_t worker = 0; worker < workers; ++worker) {
            local_ports const slice = slice_of(all, worker, workers).value();
            CHECK(slice.first == next);
            CHECK(slice.last >= slice.first);
            next = slice.last + 1U;
        }
        CHECK(next == all.last + 1U);
    }
}

TEST_CASE("one worker, and workers that would have few ports, take them from the whole range")
{
    CHECK_FALSE(slice_of(local_ports{32768, 60999}, 0, 1));
    CHECK_FALSE(slice_of(local_ports{1000, 1100}, 1, 2));
    CHECK_FALSE(slice_of(std::nullopt, 1, 2));
}

TEST_CASE("a socket that cannot have a slice says so")
{
    unique_fd const socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK_FALSE(use_slice(socket.get(), local_ports{40'000, 40'100}));
}

} // namespace cleat::app::local_ports_test
