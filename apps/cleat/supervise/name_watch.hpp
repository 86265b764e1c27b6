// name_watch: the main thread's side of the resolver: the names that it looks up, and what happens
// with the addresses that it finds.

#pragma once

#include "health/upstream_states.hpp"
#include "log/log.hpp"
#include "resolver/resolver.hpp"
#include "snapshot/snapshot.hpp"
#include "upstream/upstream_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app {

/// name_watch belongs to the main thread. Where no upstream has a name, it starts no thread.
class name_watch
{
public:
    /// The states outlive it. Another thread calls `wake` when look is due.
    name_watch(upstream_states& states, std::function<void()> wake) noexcept
        : states_{states}, wake_{std::move(wake)}
    {
    }
    name_watch(name_watch&&) = delete;

    /// follow looks up the names of the present configuration from now on. Where the thread cannot
    /// be started, the log says so, and the names keep their addresses.
    void follow(snapshot const& present, logger const& log);

    /// look gives the states the addresses that were found since the last call. It logs changes,
    /// names that cannot be looked up any more, and names that can again. It does nothing until the
    /// present configuration is followed.
    void look(snapshot const& present, logger const& log);

    /// counts are the numbers of all lookups; null: the resolver was never needed.
    [[nodiscard]] std::shared_ptr<dns_counts const> counts() const noexcept
    {
        return resolver_ ? resolver_->counts() : nullptr;
    }

private:
    // A name, and the servers that it stands for, by place.
    struct name_in_use
    {
        std::string upstream;
        planned_name plan;
        std::vector<server_plan> servers;
        bool is_failing = false;
    };

    void keep(name_in_use& name, std::vector<name_in_use> const& before);
    void log_failure(name_in_use& name, std::string const& failure, logger const& log);
    [[nodiscard]] bool place(name_in_use& name, std::vector<dns_target> const& targets);
    void take(name_in_use& name, std::vector<dns_target> const& targets, logger const& log);
    void change(name_in_use const& name, std::size_t number);

    upstream_states& states_;
    std::function<void()> wake_;
    snapshot const* followed_ = nullptr; // Compared only.
    std::vector<name_in_use> names_;     // By number in the order.
    std::uint64_t order_ = 0;
    std::unique_ptr<resolver> resolver_;
};

} // namespace cleat::app
