// client_scope: which connections of a client are counted together, and how many it may have.

#pragma once

#include "limits/client_table.hpp"

#include <cstdint>

namespace cleat::app {

/// client_scope is a worker's limits of a client, at all frontends without limits of their own, or
/// at one frontend or route that has its own.
struct client_scope
{
    client_rules rules{};
    std::uint64_t salt = 0; ///< Scopes with other salts have other places in the table.

    /// is_on is false where the client has no limit.
    [[nodiscard]] bool is_on() const noexcept
    {
        return rules.connections != 0 || rules.token_interval.count() != 0;
    }
};

} // namespace cleat::app
