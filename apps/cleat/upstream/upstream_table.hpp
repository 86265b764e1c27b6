// upstream_table: what changes of an upstream's servers while their configuration is in service.

#pragma once

#include "upstream/server_counts.hpp"
#include "upstream/upstream_plan.hpp"

#include <cleat/net/socket_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {

/// server_state is whether new connections go to a server. Established ones go on in any state.
enum class server_state : std::uint8_t
{
    serving,
    down,    ///< By its checks: it is tried when no other server is left.
    drained, ///< By an operator, or for want of an address: it gets no new connection.
};

[[nodiscard]] std::string_view to_string(server_state state) noexcept;

/// server_row is one server at one moment.
struct server_row
{
    std::vector<net::address> addresses; ///< To be tried in their order, by_turns.
    unsigned weight = 1;                 ///< In force, from 1 on.
    server_state state = server_state::serving;
    std::shared_ptr<counts_by_worker> counts{}; ///< Null: its connections are not counted.
    bool is_backup = false;
};

/// upstream_table is the servers of an upstream at one moment, by their numbers in the plan. The
/// main thread makes it, and hands each worker a copy of its own: a worker_table.
using upstream_table = std::vector<server_row>;

/// first_table is that of a plan of which nothing else is known yet.
[[nodiscard]] upstream_table first_table(upstream_plan const& plan);

/// are_same compares two addresses, or two lists of them in their order.
[[nodiscard]] bool are_same(net::address const& one, net::address const& other) noexcept;
[[nodiscard]] bool are_same(
    std::vector<net::address> const& one, std::vector<net::address> const& other) noexcept;

/// have_common: an address is in both lists.
[[nodiscard]] bool have_common(
    std::vector<net::address> const& some, std::vector<net::address> const& others) noexcept;

/// by_turns are the addresses with their families by turns, from the first one's on (RFC 8305,
/// section 4). Those of a family keep their order. The rest of the larger family comes last.
[[nodiscard]] std::vector<net::address> by_turns(std::vector<net::address> all);

/// leading_addresses are the addresses of a server that are tried before the others of their
/// family: by family, their numbers in the list. first_of_families: until one has answered.
using leading_addresses = std::array<std::uint32_t, 2>;
inline constexpr leading_addresses first_of_families{0, 1};

/// server_addresses are a server's addresses by_turns, as one worker has them, and which of each
/// family has answered last. They stay in place as long as a connection of the worker refers to
/// them, also when the server has got others. The worker counts these connections, so that nothing
/// is shared.
class server_addresses
{
public:
    explicit server_addresses(std::vector<net::address> all);
    server_addresses(server_addresses&&) = delete;

    [[nodiscard]] std::vector<net::address> const& all() const noexcept { return all_; }

    /// has_both_families: the server has addresses of IPv4 and of IPv6.
    [[nodiscard]] bool has_both_families() const noexcept { return in_pairs_ != 0; }

    /// is_of_second: the address is of another family than the first of the list.
    [[nodiscard]] bool is_of_second(net::address const& one) const noexcept
    {
        return one.family() != all_.front().family();
    }

    /// in_order is the address to try at a position, in the order of the list, or with the other
    /// family first. A leading address has changed places with the first one of its family.
    [[nodiscard]] net::address const& in_order(
        std::size_t position, bool second_first,
        leading_addresses const& leading = first_of_families) const noexcept
    {
        return all_[number_at(position, second_first, leading)];
    }

    /// leading are those for a connection that begins now. answered: the one at a position of a
    /// connection's order has answered, and leads from now on.
    [[nodiscard]] leading_addresses leading() const noexcept { return leading_; }
    void answered(
        std::size_t position, bool second_first, leading_addresses const& leading) noexcept
    {
        std::size_t const number = number_at(position, second_first, leading);
        leading_[is_of_second(all_[number]) ? 1 : 0] = static_cast<std::uint32_t>(number);
    }

    /// hold counts a connection, and release ends it. The last one of addresses that were replaced
    /// destroys the object.
    void hold() noexcept { ++users_; }
    void release() noexcept
    {
        if (--users_ == 0 && is_replaced_)
            delete this;
    }

    /// replace gives up the object, which has been replaced.
    static void replace(std::unique_ptr<server_addresses> old) noexcept
    {
        old->is_replaced_ = true;
        if (old->users_ != 0)
            static_cast<void>(old.release());
    }

private:
    friend struct std::default_delete<server_addresses>;
    ~server_addresses() = default;

    // by_turns puts the first ones of the families at the first places.
    [[nodiscard]] std::size_t number_at(
        std::size_t position, bool second_first, leading_addresses const& leading) const noexcept
    {
        std::size_t const number = second_first && position < in_pairs_ ? position ^ 1U : position;
        for (std::size_t family = 0; family != (has_both_families() ? 2 : 1); ++family) {
            if (number == family)
                return leading[family];
            if (number == leading[family])
                return family;
        }
        return number;
    }

    std::vector<net::address> all_;
    leading_addresses leading_ = first_of_families;
    std::size_t in_pairs_ = 0; // So many at the beginning are pairs of both families.
    std::size_t users_ = 0;
    bool is_replaced_ = false;
};

/// worker_server is a server_row for one worker.
struct worker_server
{
    std::unique_ptr<server_addresses> addresses;
    unsigned weight = 1;
    server_state state = server_state::serving;
    bool is_backup = false;
    server_counts* counts = nullptr; ///< The worker's own; it lives as long as the configuration.
};

/// worker_table is an upstream_table for one worker, made by another thread: the worker allocates
/// nothing when it takes it.
using worker_table = std::vector<worker_server>;

[[nodiscard]] worker_table copy_for_worker(upstream_table const& table, std::size_t worker);

} // namespace cleat::app
