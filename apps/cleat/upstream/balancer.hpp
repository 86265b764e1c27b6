// balancer: which server of an upstream the next connection of a worker goes to.

#pragma once

#include "upstream/ejection.hpp"
#include "upstream/upstream_plan.hpp"
#include "upstream/upstream_table.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cleat::app {

/// server_set is a set of servers' numbers, which are below limits::servers_max.
class server_set
{
public:
    [[nodiscard]] bool contains(std::size_t server) const noexcept
    {
        return (bits_ >> server & 1U) != 0;
    }
    void insert(std::size_t server) noexcept { bits_ |= std::uint64_t{1} << server; }
    void erase(std::size_t server) noexcept { bits_ &= ~(std::uint64_t{1} << server); }
    [[nodiscard]] bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(std::popcount(bits_));
    }
    [[nodiscard]] server_set joined(server_set other) const noexcept
    {
        other.bits_ |= bits_;
        return other;
    }
    [[nodiscard]] server_set without(server_set other) const noexcept
    {
        other.bits_ = bits_ & ~other.bits_;
        return other;
    }

private:
    std::uint64_t bits_ = 0;
};

/// server_load is what a worker counts of a server's connections. Configurations that follow each
/// other share it: a connection goes on counting after a reload.
struct server_load
{
    std::int64_t connections = 0;
    std::int64_t waiting = 0; ///< In line for the server: see balancer::waits.
    std::int64_t limit = 0;   ///< Of the newest configuration; 0: none.
    server_state state = server_state::serving;
};

/// client_key is the same for all connections of a client: a hash of the 4 or 16 bytes of its
/// address. A client at a UNIX socket has no bytes: 0.
[[nodiscard]] std::uint64_t client_key(std::span<std::uint8_t const> address) noexcept;

/// balancer has a worker's counts of the connections to each server of an upstream, and knows which
/// servers are left out (see ejection). A worker balances its own connections: it shares nothing.
///
/// The servers that serve and are no backups come first, then the backups that serve, then those
/// that are left out, and then those that are down by their checks: a connection fails only when
/// every server has failed it. A server that is drained is never chosen. Of the servers that come
/// first those that have room are taken, where there are any. Among equals the strategy decides:
///
/// - first: the first of the list.
/// - round_robin: by turns, in the proportion of the weights, and spread evenly.
/// - least_connections: the server with the fewest connections for its weight; by turns where
///   several have the fewest.
/// - client_hash: by the client's address, in the proportion of the weights. A server that comes or
///   goes moves only its own share of the clients (rendezvous hashing). All workers choose alike.
class balancer
{
public:
    using time_point = ejection::time_point;

    explicit balancer(upstream_plan const& plan);

    /// choose is the number of the server to try, none of `tried`. Nothing: all were tried.
    [[nodiscard]] std::optional<std::size_t> choose(
        time_point now, std::uint64_t client, server_set const& tried);

    /// left is how many servers choose would still return, one after the other.
    [[nodiscard]] std::size_t left(server_set const& tried) const noexcept
    {
        return servers_.size() - tried.joined(drained_).size();
    }

    /// change gives a server another weight and state. Its connections go on counting. A server
    /// that comes back by its checks is not left out any more for failures before that.
    void change(time_point now, std::size_t server, unsigned weight, server_state state) noexcept;

    /// set_backup: the server serves only while others do not.
    void set_backup(std::size_t server, bool is_backup) noexcept
    {
        servers_[server].is_backup = is_backup;
    }

    /// returned: the server serves again. Its weight rises within the plan's slow_start.
    void returned(time_point now, std::size_t server) noexcept;

    /// limit gives a server a limit of connections, this worker's part; 0: it has none.
    void limit(std::size_t server, std::int64_t connections) noexcept
    {
        load(server).limit = connections;
    }

    /// share_load counts together with the balancer of the configuration before, in which the
    /// server has another number. The limit is this one's.
    void share_load(std::size_t server, balancer const& previous, std::size_t number) noexcept
    {
        std::int64_t const own_limit = load(server).limit;
        servers_[server].load = previous.servers_[number].load;
        load(server).limit = own_limit;
    }

    /// is_full: a connection to the server would have to wait in line, behind those that do.
    [[nodiscard]] bool is_full(std::size_t server) const noexcept
    {
        server_load const& one = load(server);
        return one.limit != 0 && one.connections + one.waiting >= one.limit;
    }

    /// room is how many more connections the server may have.
    [[nodiscard]] std::size_t room(std::size_t server) const noexcept
    {
        server_load const& one = load(server);
        std::int64_t const taken = one.connections + one.waiting;
        if (one.limit == 0)
            return std::numeric_limits<std::size_t>::max();
        return one.limit > taken ? static_cast<std::size_t>(one.limit - taken) : 0;
    }

    /// waits adds a connection to the line for a full server. admit moves a connection from the
    /// line to the server if there is room: true. gave_up takes one out of the line.
    void waits(std::size_t server) noexcept { ++load(server).waiting; }
    [[nodiscard]] bool admit(std::size_t server) noexcept
    {
        server_load& one = load(server);
        if (one.limit != 0 && one.connections >= one.limit)
            return false;
        --one.waiting;
        ++one.connections;
        return true;
    }
    void gave_up(std::size_t server) noexcept { --load(server).waiting; }

    /// began counts a connection to a server; ended ends it.
    void began(std::size_t server) noexcept { ++load(server).connections; }
    void ended(std::size_t server) noexcept { --load(server).connections; }

    [[nodiscard]] server_state state(std::size_t server) const noexcept
    {
        return load(server).state;
    }

    /// ejection_of is the ejection of a server: whether connections may go to it.
    [[nodiscard]] ejection& ejection_of(std::size_t server) noexcept
    {
        return servers_[server].health;
    }
    [[nodiscard]] ejection_rule const& rule() const noexcept { return rule_; }
    [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }

private:
    // A weight is this many shares, so that a part of a weight is a number, too.
    static constexpr std::int64_t shares_of_weight = 1024;

    struct balanced_server
    {
        std::int64_t weight = 1;
        std::int64_t shares = shares_of_weight; // In force: those of the weight, or fewer.
        time_point rises_since{};
        bool is_backup = false;
        std::uint64_t name = 0; // A hash of it.
        std::shared_ptr<server_load> load = std::make_shared<server_load>();
        std::int64_t turn = 0; // Smooth weighted round robin: the highest is next.
        ejection health{};
    };
    using numbers = std::vector<std::size_t>;

    [[nodiscard]] server_load& load(std::size_t server) const noexcept
    {
        return *servers_[server].load;
    }
    [[nodiscard]] unsigned rank_of(balanced_server const& one, time_point now) const noexcept;
    void raise(time_point now) noexcept;
    void leave_out_full();
    void find_candidates(time_point now, server_set const& tried);
    [[nodiscard]] std::size_t by_turns() noexcept;
    void keep_fewest_connections();
    [[nodiscard]] std::size_t by_client(std::uint64_t client) const noexcept;

    std::vector<balanced_server> servers_;
    balance strategy_;
    ejection_rule rule_;
    std::chrono::milliseconds slow_start_;
    server_set drained_;
    server_set rising_;  // Their weight rises.
    numbers candidates_; // Of the present choice; its memory is kept.
};

} // namespace cleat::app
