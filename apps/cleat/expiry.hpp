// expiry: the certificates that expire soon, for the log.

#pragma once

#include "log/log.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace cleat::app {

/// expiry_list keeps the certificates that expire first, at most limits::expiry_lines_max of those
/// that expire within 30 days, and counts the others.
class expiry_list
{
public:
    /// Not a system_clock::time_point, which ends in 2262: certificates without an end say 9999
    /// (RFC 5280, section 4.1.2.5).
    using time_point = std::chrono::sys_seconds;

    expiry_list() noexcept
        : expiry_list{std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())}
    {
    }
    explicit expiry_list(time_point now) noexcept : now_{now} {}

    /// is_soon: the time is within 30 days, or past.
    [[nodiscard]] bool is_soon(time_point valid_until) const noexcept;

    /// note takes a certificate whose end is soon.
    void note(std::string origin, time_point valid_until);

    /// write logs a line for each certificate, the nearest end first, and then a count of the
    /// others. It is a warning within 7 days, and from the last day on an error.
    void write(logger const& log) const;

private:
    struct row
    {
        time_point valid_until;
        std::string origin;
    };

    time_point now_;
    std::vector<row> nearest_; // In the order of their ends.
    std::size_t others_ = 0;
};

} // namespace cleat::app
