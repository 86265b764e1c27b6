// Datagrams between abstract names: a command is one, and its answer is one. So neither end has a
// connection to keep, and a slow asker holds nothing up.

#include "process/control_socket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// Of a datagram. The log has the rest of a longer answer.
constexpr std::size_t message_max = 32'768;

struct socket_name
{
    sockaddr_un address{};
    socklen_t size = 0;
};

// Two containers may share a network namespace, and so all abstract names, and each have a
// process 1. 0: there is no /proc.
std::string prefix_of_names()
{
    struct stat facts
    {
    };
    bool const is_known = ::stat("/proc/self/ns/pid", &facts) == 0;
    return fmt::format("cleat/control/{}/", is_known ? facts.st_ino : 0);
}

// An abstract name begins with a zero byte, and its size says where it ends (unix(7)).
socket_name abstract(std::string_view name)
{
    socket_name made;
    made.address.sun_family = AF_UNIX;
    std::memcpy(made.address.sun_path + 1, name.data(), name.size());
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return made;
}

// With SO_PASSCRED the kernel adds the sender's identity to each datagram, and gives the socket a
// name of its own when it first sends.
result<unique_fd> new_socket()
{
    unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    int const on = 1;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return last_system_error();
    return fd;
}

struct received
{
    std::string text;
    sockaddr_un sender{};
    socklen_t sender_size = 0;
    ucred identity{};
};

std::optional<received> receive(int fd, int flags)
{
    received got;
    got.text.resize(message_max);
    iovec piece{got.text.data(), got.text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
    msghdr message{};
    message.msg_name = &got.sender;
    message.msg_namelen = sizeof got.sender;
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t const size = ::recvmsg(fd, &message, flags);
    if (size < 0)
        return std::nullopt;
    got.text.resize(static_cast<std::size_t>(size));
    got.sender_size = message.msg_namelen;
    cmsghdr const* const part = CMSG_FIRSTHDR(&message);
    if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
        return std::nullopt;
    std::memcpy(&got.identity, CMSG_DATA(part), sizeof got.identity);
    return got;
}

// An answer begins with its exit code, as one character.
std::optional<command_answer> read_answer(received const& got)
{
    if (got.text.empty() || got.text.front() < '0' || got.text.front() > '9')
        return std::nullopt;
    return command_answer{got.text.front() - '0', got.text.substr(1)};
}

} // namespace

std::string control_name(pid_t process)
{
    return fmt::format("{}{}", prefix_of_names(), process);
}

result<control_socket> control_socket::open()
{
    result<unique_fd> fd = new_socket();
    if (!fd)
        return fd.error();
    socket_name const name = abstract(control_name(::getpid()));
    if (::bind(fd->get(), reinterpret_cast<sockaddr const*>(&name.address), name.size) != 0)
        return last_system_error();
    control_socket made;
    made.fd_ = std::move(*fd);
    return made;
}

std::optional<control_socket::command> control_socket::next() const
{
    while (std::optional<received> got = receive(fd_.get(), MSG_DONTWAIT)) {
        command asked{std::move(got->text), got->sender, got->sender_size};
        if (got->identity.uid == 0 || got->identity.uid == ::geteuid())
            return asked;
        answer(asked, {1, "cleat: only root and the user that cleat runs as may ask for that\n"});
    }
    return std::nullopt;
}

void control_socket::answer(command const& answered, command_answer const& how) const noexcept
{
    char const code = static_cast<char>('0' + how.exit_code);
    iovec pieces[] = {
        {const_cast<char*>(&code), 1},
        {const_cast<char*>(how.text.data()), std::min(how.text.size(), message_max - 1)}};
    sockaddr_un asker = answered.asker;
    msghdr message{};
    message.msg_name = &asker;
    message.msg_namelen = answered.asker_size;
    message.msg_iov = pieces;
    message.msg_iovlen = std::size(pieces);
    static_cast<void>(::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

result<command_answer> ask(pid_t process, std::string_view command)
{
    unique_fd const end{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
    if (!end)
        return last_system_error();
    result<unique_fd> fd = new_socket();
    if (!fd)
        return fd.error();
    socket_name const name = abstract(control_name(process));
    if (::sendto(
            fd->get(), command.data(), command.size(), MSG_NOSIGNAL,
            reinterpret_cast<sockaddr const*>(&name.address), name.size) < 0)
        return last_system_error();
    std::array<pollfd, 2> fds{pollfd{fd->get(), POLLIN, 0}, pollfd{end.get(), POLLIN, 0}};
    for (;;) {
        if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
            return last_system_error();
        // Any process may send to our name: only a message of the process that was asked is the
        // answer.
        while (std::optional<received> const got = receive(fd->get(), MSG_DONTWAIT))
            if (got->identity.pid == process)
                if (std::optional<command_answer> found = read_answer(*got))
                    return std::move(*found);
        if (fds[1].revents != 0)
            return make_error_code(boost::system::errc::no_such_process);
    }
}

std::vector<pid_t> running_cleats()
{
    std::vector<pid_t> found;
    std::ifstream names{"/proc/net/unix"};
    std::string const wanted = "@" + prefix_of_names();
    for (std::string line; std::getline(names, line);) {
        std::size_t const place = line.find(wanted);
        if (place == std::string::npos)
            continue;
        pid_t process = 0;
        char const* const last = line.data() + line.size();
        auto const [rest, error] =
            std::from_chars(line.data() + place + wanted.size(), last, process);
        if (error == std::errc{} && rest == last && process > 0)
            found.push_back(process);
    }
    // Any user may bind such a name. Where some of the processes take this user's signals, the
    // others are another user's.
    auto const cannot_signal = [](pid_t process) { return ::kill(process, 0) != 0; };
    std::erase_if(found, [](pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; });
    if (!std::ranges::all_of(found, cannot_signal))
        std::erase_if(found, cannot_signal);
    std::ranges::sort(found);
    return found;
}

} // namespace cleat::app
