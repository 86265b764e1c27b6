// limit_text: the limits of a client in words and in JSON, for `cleat explain`.

#pragma once

#include "limits/limit_plan.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace cleat::app {

/// explained_limits are those of one client at one frontend.
struct explained_limits
{
    limit_plan const& all;
    frontend_limit const& frontend;
    frontend_limit const& route;             ///< Of the client; empty where it has none.
    std::span<std::uint8_t const> address{}; ///< The client's, of 4 or 16 bytes; empty: unknown.

    [[nodiscard]] bool is_empty() const noexcept
    {
        return all.connections == 0 && frontend.connections == 0 && route.connections == 0 &&
               !frontend.clients.is_on() && !route.clients.is_on();
    }
};

/// describe says them on one line: "1000 connections in all; 10 connections of 192.0.2.1/32". There
/// is one, at least.
[[nodiscard]] std::string describe(explained_limits const& found);

/// limits_json is an object. A limit that is not there is null.
[[nodiscard]] std::string limits_json(explained_limits const& found);

} // namespace cleat::app
