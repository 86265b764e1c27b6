#include "process/notify_socket.hpp"
#include "system/taken_variable.hpp"
#include "system/whole_number.hpp"

#include <cleat/core/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cleat::app {

notify_socket::notify_socket() : path_{take_variable("NOTIFY_SOCKET").value_or("")}
{
    // A path, or an abstract name, whose first character is written as @.
    if (!path_.starts_with('/') && !path_.starts_with('@'))
        path_.clear();
    std::optional<std::uint64_t> const microseconds =
        whole_number<std::uint64_t>(take_variable("WATCHDOG_USEC").value_or(""));
    std::string const process = take_variable("WATCHDOG_PID").value_or("");
    bool const is_ours = process.empty() || whole_number<pid_t>(process) == ::getpid();
    if (is_there() && is_ours && microseconds && *microseconds > 0)
        watchdog_interval_ = std::chrono::milliseconds{
            std::clamp<std::uint64_t>(*microseconds / 2'000, 1, 86'400'000)};
}

error_code notify_socket::ready(std::string_view status) const
{
    return send(fmt::format("READY=1\nMAINPID={}\nSTATUS={}", ::getpid(), status));
}

// The time lets systemd tell this reload's READY=1 from an earlier one.
error_code notify_socket::reloading() const
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return send(fmt::format(
        "RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=reading the configuration",
        static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000));
}

error_code notify_socket::stopping() const
{
    return send("STOPPING=1\nSTATUS=draining");
}

error_code notify_socket::alive() const
{
    return send("WATCHDOG=1");
}

error_code notify_socket::send(std::string_view message) const
{
    if (!is_there())
        return {};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path)
        return make_error_code(boost::system::errc::filename_too_long);
    std::memcpy(address.sun_path, path_.data(), path_.size());
    if (path_.front() == '@')
        address.sun_path[0] = '\0';
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
    unique_fd const fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!fd || ::sendto(
                   fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
                   reinterpret_cast<sockaddr const*>(&address), size) < 0)
        return last_system_error();
    return {};
}

} // namespace cleat::app
