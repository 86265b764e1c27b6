// limit_plan: the limits of a configuration, as its operator wrote them: for all workers together.

#pragma once

#include "limits/client_prefix.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cleat::app {

/// client_limit is what one client may have: one prefix of addresses. 0: there is no limit.
struct client_limit
{
    std::uint32_t connections = 0;     ///< At a time.
    std::uint32_t handshake_rate = 0;  ///< A second.
    std::uint32_t handshake_burst = 0; ///< At once. Not 0 where there is a rate.

    [[nodiscard]] bool is_on() const noexcept { return connections != 0 || handshake_rate != 0; }
};

/// client_count_plan is how each worker counts its clients.
struct client_count_plan
{
    prefix_lengths prefixes{};
    std::size_t table_size = 0; ///< Clients that each worker has a place for. 0: none is counted.

    [[nodiscard]] bool is_on() const noexcept { return table_size != 0; }

    /// is_counted_alike: a worker's counts of its clients under one plan are also right under the
    /// other.
    [[nodiscard]] bool is_counted_alike(client_count_plan const& other) const noexcept
    {
        return is_on() && other.is_on() && prefixes == other.prefixes &&
               table_size == other.table_size;
    }
};

/// frontend_limit is that of a frontend or a route.
struct frontend_limit
{
    std::string name;              ///< Among all of them: its connections are counted by it.
    std::uint32_t connections = 0; ///< 0: there is no limit.
    /// Of each client. A frontend without limits of its own has the global ones.
    client_limit clients{};
    /// Clients are counted by `name`, apart from their connections elsewhere.
    bool counts_apart = false;
};

struct limit_plan
{
    std::uint32_t connections = 0; ///< In all. 0: there is no limit.
    std::vector<frontend_limit> frontends{};
    std::vector<frontend_limit> routes{}; ///< Those that have one.
    client_count_plan clients{};
    /// The configuration before counted its clients alike: workers keep what they have counted.
    bool keeps_clients = false;
};

} // namespace cleat::app
