// worker_limits: a worker's part of the limits, and its counts for them. Workers share none of it.

#pragma once

#include "limits/client_prefix.hpp"
#include "limits/client_scope.hpp"
#include "limits/client_table.hpp"
#include "limits/limit_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cleat::app {

/// frontend_connections is how many connections of one frontend, or of a route that has a limit,
/// are open on a worker, whichever configuration they began with.
struct frontend_connections
{
    std::size_t open = 0;
    std::uint64_t last_used = 0; ///< The number of the last configuration that has the name.
};

/// worker_limits belongs to its worker's thread, and lives as long as the worker: a reload changes
/// the rules, and keeps the counts.
class worker_limits
{
public:
    static constexpr std::size_t unlimited = SIZE_MAX;

    /// `number` is the worker's, of so many.
    worker_limits(std::size_t number, std::size_t workers) noexcept
        : number_{number}, workers_{workers}
    {
    }
    worker_limits(worker_limits&&) = delete;
    ~worker_limits() = default;

    /// follow takes the rules of a configuration. `table` is for its clients; null where the plan
    /// keeps_clients, or counts none.
    void follow(limit_plan const& plan, std::unique_ptr<client_table> table) noexcept;

    /// frontend is where the connections of a frontend or route of the configuration that was
    /// followed last are counted. It stays as long as this configuration or the one after it is
    /// followed, or a connection is open. Throws std::bad_alloc.
    [[nodiscard]] frontend_connections& frontend(std::string_view name);

    /// share is this worker's part of a limit for open connections; unlimited for 0.
    [[nodiscard]] std::size_t share(std::uint32_t limit) const noexcept;

    /// connections_max is how many connections this worker may have open.
    [[nodiscard]] std::size_t connections_max() const noexcept { return connections_max_; }

    /// scope is the limits of each client of a frontend or route, on this worker.
    [[nodiscard]] client_scope scope(frontend_limit const& limit) const noexcept;

    /// client_place is where a client's connection is counted. A default-made one: nowhere.
    struct client_place
    {
        client_table::place place{};
        std::uint32_t table = 0; ///< The number of the table: see release.
    };

    struct client_answer
    {
        client_table::verdict verdict = client_table::verdict::admitted;
        client_place place{};
        bool is_shared = false;
    };

    /// admit asks for a connection and a handshake of a client. It is admitted, and not counted,
    /// where the configuration that was followed last counts no client. The address has 4 or 16
    /// bytes.
    [[nodiscard]] client_answer admit(
        client_scope const& scope, std::span<std::uint8_t const> address,
        client_table::time_point now) noexcept;

    /// release gives a client's connection back; nothing happens where the table that has it was
    /// replaced.
    void release(client_place const& where) noexcept;

private:
    std::size_t number_;
    std::size_t workers_;
    std::size_t connections_max_ = unlimited;
    std::unique_ptr<client_table> table_;
    std::uint32_t table_number_ = 0;
    prefix_lengths prefixes_{};
    std::map<std::string, frontend_connections, std::less<>> frontends_;
    std::uint64_t configuration_ = 0;
};

} // namespace cleat::app
