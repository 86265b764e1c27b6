// upstream_states: what the main thread knows of the servers of all upstreams, beyond their
// configuration.

#pragma once

#include "resolver/target_places.hpp"
#include "upstream/check_rule.hpp"
#include "upstream/upstream_plan.hpp"
#include "upstream/upstream_table.hpp"

#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app {

/// check_state is what the checks of a server have found.
enum class check_state : std::uint8_t
{
    none,    ///< It is not checked.
    unknown, ///< There is no result yet: it serves.
    passed,
    failed, ///< It is down.
};

[[nodiscard]] std::string_view to_string(check_state state) noexcept;

/// check_report is the last change of that.
struct check_report
{
    check_state state = check_state::none;
    std::string reason{}; ///< Why it has failed.
    std::chrono::system_clock::time_point time{};
};

/// known_server is one server.
struct known_server
{
    std::string name;                           ///< As the configuration spells its address.
    std::vector<net::address> addresses;        ///< In force.
    unsigned weight = 1;                        ///< The configuration's, or DNS's.
    bool is_backup = false;                     ///< Likewise.
    std::string tls_name{};                     ///< The name of its certificate, with TLS.
    std::string target{};                       ///< Of a service: see server_plan.
    std::optional<unsigned> operators_weight{}; ///< It replaces that one.
    bool is_drained = false;                    ///< By an operator.
    bool is_down = false;                       ///< By its checks.
    check_report check{};
    std::shared_ptr<counts_by_worker> counts{};

    [[nodiscard]] server_row row() const;

    /// place gives it a target and addresses. An operator's orders for another target, and what the
    /// checks have found of other addresses than that target's, are forgotten.
    void place(std::string const& next_target, std::vector<net::address> const& next_addresses);

    /// total is a number of all workers.
    [[nodiscard]] std::uint64_t total(server_count which) const noexcept;

    /// open is how many connections it has now, and waiting how many wait for it.
    [[nodiscard]] std::uint64_t open() const noexcept;
    [[nodiscard]] std::uint64_t waiting() const noexcept;
    /// ready is how many are made before clients need them, and no client has taken yet.
    [[nodiscard]] std::uint64_t ready() const noexcept;
};

/// known_upstream is one upstream.
struct known_upstream
{
    std::string name;
    check_rule check{};
    std::vector<known_server> servers{};
};

/// table_of an upstream is what workers choose its servers from.
[[nodiscard]] upstream_table table_of(known_upstream const& upstream);

/// counts_of all servers, for an owner that outlives the connections to them.
[[nodiscard]] std::vector<std::shared_ptr<counts_by_worker>> counts_of(
    std::vector<known_upstream> const& upstreams);

/// upstream_states belongs to the main thread. A change makes the upstream's next table, which it
/// publishes. Other threads that find something out, such as an address or the end of a server,
/// give it to the main thread: by an inbox, and worker_group::wake.
class upstream_states
{
public:
    /// publisher gets the table of an upstream, by its number.
    using publisher = std::function<void(std::size_t, upstream_table const&)>;

    upstream_states(std::size_t workers, publisher publish) noexcept
        : workers_{workers}, publish_{std::move(publish)}
    {
    }
    upstream_states(upstream_states&&) = delete;
    ~upstream_states() = default;

    /// following is what follow makes of these upstreams. An operator's orders for a server, and
    /// the results of its checks, are kept where the upstream's name and the server's are the same;
    /// those of a service's target where the target is the same.
    /// The addresses are the plan's: they have just been looked up.
    [[nodiscard]] std::vector<known_upstream> following(
        std::vector<upstream_plan> const& upstreams) const;

    /// follow: these upstreams, of which following was the last call, are in service now. Publishes
    /// nothing.
    void follow(std::vector<known_upstream> upstreams) noexcept;

    /// targets are the places of services that have or had a target.
    [[nodiscard]] std::vector<placed_target> targets() const;

    /// version is another number after each change.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

    [[nodiscard]] std::size_t size() const noexcept { return upstreams_.size(); }
    [[nodiscard]] std::vector<known_upstream> const& all() const noexcept { return upstreams_; }

    /// change calls `use` with each server of that name in the upstream of that name, and publishes
    /// the upstream's table where a row of it is another one then. False: there is none, which a
    /// reload may have taken away.
    bool change(
        std::string_view upstream, std::string_view server,
        std::function<void(known_server&)> const& use);

    /// set_addresses gives a server other addresses. Connections to the ones before go on.
    bool set_addresses(
        std::string_view upstream, std::string_view server,
        std::vector<net::address> const& addresses);

private:
    std::size_t workers_;
    publisher publish_;
    std::uint64_t version_ = 0;
    std::vector<known_upstream> upstreams_;
};

} // namespace cleat::app
