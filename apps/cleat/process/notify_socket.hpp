// notify_socket: tells systemd the state of the program (sd_notify(3), systemd.service(5)).

#pragma once

#include <cleat/core/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::app {

/// notify_socket is the socket of systemd, or of another program with its protocol, that has
/// started this process with NOTIFY_SOCKET. Without that variable its functions do nothing. Their
/// errors are those of sendto(2).
class notify_socket
{
public:
    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment, and removes them:
    /// a child has its own manager.
    notify_socket();

    [[nodiscard]] bool is_there() const noexcept { return !path_.empty(); }

    /// ready: the program serves; also after a reload. `status` is a line for people.
    error_code ready(std::string_view status) const;
    error_code reloading() const;
    error_code stopping() const;

    /// alive keeps systemd from restarting the program: call it every watchdog_interval.
    error_code alive() const;

    /// watchdog_interval is half of the time that systemd waits; nothing: it does not watch.
    [[nodiscard]] std::optional<std::chrono::milliseconds> watchdog_interval() const noexcept
    {
        return watchdog_interval_;
    }

private:
    error_code send(std::string_view message) const;

    std::string path_;
    std::optional<std::chrono::milliseconds> watchdog_interval_;
};

} // namespace cleat::app
