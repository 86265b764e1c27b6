#include "privileged/descriptor_message.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include <sys/socket.h>
#include <sys/uio.h>

namespace cleat::app {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(sizeof(int) * descriptors_max);

void take_descriptors(msghdr& message, std::vector<unique_fd>& found)
{
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        std::size_t const size = part->cmsg_len - CMSG_LEN(0);
        std::array<int, descriptors_max> numbers{};
        std::memcpy(numbers.data(), CMSG_DATA(part), size);
        for (int const number : std::span{numbers}.first(size / sizeof(int)))
            found.emplace_back(number);
    }
}

} // namespace

error_code send_message(int socket, std::string_view bytes, int fd) noexcept
{
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
    }
    ssize_t sent = -1;
    do
        sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? last_system_error() : error_code{};
}

result<descriptor_message> receive_message(int socket, std::size_t size_max)
{
    descriptor_message got;
    got.bytes.resize(size_max);
    got.fds.reserve(descriptors_max); // No exception may come between the call and the owners.
    iovec piece{got.bytes.data(), got.bytes.size()};
    alignas(cmsghdr) std::array<char, control_size> control{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t size = -1;
    do
        size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return last_system_error();
    take_descriptors(message, got.fds);
    got.bytes.resize(static_cast<std::size_t>(size));
    got.is_whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
    got.is_end = size == 0; // No message is empty: encode writes at least one byte.
    return got;
}

} // namespace cleat::app
