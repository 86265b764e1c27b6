// limited_route: a connection's place among those that its route may have.

#pragma once

#include "limits/limit_plan.hpp"
#include "limits/worker_limits.hpp"

namespace cleat::app {

/// limited_route gives the connection back when it ends. It belongs to the worker's thread.
class limited_route
{
public:
    limited_route() = default;
    limited_route(limited_route&&) = delete;
    ~limited_route()
    {
        if (open_ != nullptr)
            --open_->open;
    }

    /// admit is false where the route has as many connections as it may have, whichever
    /// configuration they began with. Call it once. Throws std::bad_alloc.
    [[nodiscard]] bool admit(worker_limits& limits, frontend_limit const& limit)
    {
        // By its name: two reloads may have dropped the route, and its count, by now.
        frontend_connections& counted = limits.frontend(limit.name);
        if (counted.open >= limits.share(limit.connections))
            return false;
        open_ = &counted;
        ++open_->open;
        return true;
    }

private:
    frontend_connections* open_ = nullptr; // Null: the route has no limit.
};

} // namespace cleat::app
