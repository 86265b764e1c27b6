#include <cleat/core/unique_fd.hpp>

#include <doctest/doctest.h>

#include <utility>

#include <fcntl.h>

namespace cleat::unique_fd_test {
namespace {

bool is_open(int fd)
{
    return ::fcntl(fd, F_GETFD) != -1;
}

unique_fd open_something()
{
    unique_fd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    REQUIRE(fd);
    return fd;
}

} // namespace

TEST_CASE("a descriptor is closed with its owner")
{
    int number = -1;
    {
        unique_fd const fd = open_something();
        number = fd.get();
        CHECK(is_open(number));
    }
    CHECK_FALSE(is_open(number));
}

TEST_CASE("moving gives the descriptor away, and assignment closes the old one")
{
    unique_fd first = open_something();
    unique_fd second = open_something();
    int const kept = first.get();
    int const closed = second.get();
    second = std::move(first);
    CHECK(second.get() == kept);
    CHECK_FALSE(is_open(closed));

    unique_fd& itself = second;
    second = std::move(itself);
    CHECK(is_open(kept));
}

TEST_CASE("a released descriptor stays open")
{
    unique_fd fd = open_something();
    unique_fd const again{fd.release()};
    CHECK_FALSE(fd);
    CHECK(is_open(again.get()));
}

} // namespace cleat::unique_fd_test
