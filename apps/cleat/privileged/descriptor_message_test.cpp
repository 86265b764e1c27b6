#include "privileged/descriptor_message.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace cleat::app::descriptor_message_test {
namespace {

struct channel_fixture
{
    channel_fixture()
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
        near.reset(ends[0]);
        far.reset(ends[1]);
    }

    // As an attacker may: any number of descriptors.
    void send(std::string text, std::vector<int> const& fds) const
    {
        iovec piece{text.data(), text.size()};
        std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
        msghdr message{};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
        std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
        REQUIRE(::sendmsg(near.get(), &message, 0) == static_cast<ssize_t>(text.size()));
    }

    [[nodiscard]] descriptor_message receive(std::size_t size_max) const
    {
        result<descriptor_message> got = receive_message(far.get(), size_max);
        REQUIRE(got.has_value());
        return std::move(*got);
    }

    unique_fd near;
    unique_fd far;
};

} // namespace

TEST_CASE_FIXTURE(channel_fixture, "a descriptor arrives beside the bytes, closed at an exec")
{
    unique_fd const null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    REQUIRE_FALSE(send_message(near.get(), "here", null.get()));
    descriptor_message const got = receive(10);
    CHECK(got.bytes == "here");
    CHECK(got.is_whole);
    REQUIRE(got.fds.size() == 1);
    struct stat about = {};
    REQUIRE(::fstat(got.fds.front().get(), &about) == 0);
    CHECK(S_ISCHR(about.st_mode));
    CHECK((::fcntl(got.fds.front().get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE_FIXTURE(channel_fixture, "a message that is too long is not whole")
{
    REQUIRE_FALSE(send_message(near.get(), "0123456789"));
    CHECK(receive(10).is_whole);
    REQUIRE_FALSE(send_message(near.get(), "0123456789x"));
    CHECK_FALSE(receive(10).is_whole);
}

TEST_CASE_FIXTURE(channel_fixture, "a message with too many descriptors is not whole")
{
    send("x", std::vector<int>(descriptors_max, near.get()));
    CHECK(receive(10).is_whole);
    send("x", std::vector<int>(20, near.get()));
    descriptor_message const got = receive(10);
    CHECK_FALSE(got.is_whole);
    CHECK(got.fds.size() <= descriptors_max);
}

TEST_CASE_FIXTURE(channel_fixture, "the end is none of the messages")
{
    near.reset();
    CHECK(receive(10).is_end);
    CHECK(send_message(far.get(), "x") == boost::system::errc::broken_pipe);
}

} // namespace cleat::app::descriptor_message_test
