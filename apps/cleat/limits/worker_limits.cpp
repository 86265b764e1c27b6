#include "limits/limit_shares.hpp"
#include "limits/worker_limits.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cleat::app {
namespace {

client_rules rules_of_worker(client_limit const& plan, std::size_t workers) noexcept
{
    client_rules made;
    if (plan.connections != 0)
        made.connections = lenient_share(plan.connections, workers);
    if (plan.handshake_rate != 0) {
        std::chrono::duration<double> const interval{
            static_cast<double>(workers) / plan.handshake_rate};
        made.token_interval = std::chrono::duration_cast<client_rules::clock::duration>(interval);
        made.burst = burst_share(plan.handshake_burst, workers);
    }
    return made;
}

} // namespace

void worker_limits::follow(limit_plan const& plan, std::unique_ptr<client_table> table) noexcept
{
    ++configuration_;
    std::erase_if(frontends_, [this](auto const& each) {
        return each.second.open == 0 && each.second.last_used + 1 < configuration_;
    });
    connections_max_ = share(plan.connections);
    prefixes_ = plan.clients.prefixes;
    if (table != nullptr || !plan.clients.is_on()) {
        table_ = std::move(table);
        ++table_number_;
    }
    CLEAT_ASSERT((table_ != nullptr) == plan.clients.is_on());
}

frontend_connections& worker_limits::frontend(std::string_view name)
{
    auto found = frontends_.find(name);
    if (found == frontends_.end())
        found = frontends_.try_emplace(std::string{name}).first;
    found->second.last_used = configuration_;
    return found->second;
}

std::size_t worker_limits::share(std::uint32_t limit) const noexcept
{
    return limit == 0 ? unlimited : exact_share(limit, number_, workers_);
}

client_scope worker_limits::scope(frontend_limit const& limit) const noexcept
{
    return {
        rules_of_worker(limit.clients, workers_),
        limit.counts_apart ? std::hash<std::string_view>{}(limit.name) : 0};
}

worker_limits::client_answer worker_limits::admit(
    client_scope const& scope, std::span<std::uint8_t const> address,
    client_table::time_point now) noexcept
{
    if (table_ == nullptr)
        return {};
    client_table::answer const found =
        table_->admit(prefix_of(address, prefixes_), scope.rules, now, scope.salt);
    return {found.verdict, {found.place, table_number_}, found.is_shared};
}

void worker_limits::release(client_place const& where) noexcept
{
    if (where.table == table_number_ && table_ != nullptr)
        table_->release(where.place);
}

} // namespace cleat::app
