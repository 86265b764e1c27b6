// name_watch: the main thread's side of the resolver: which names it looks up, and what becomes of
// its news.

#pragma once

#include "log/log.hpp"
#include "resolver/resolver.hpp"
#include "upstream/upstream_plan.hpp"
#include "worker_group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// name_watch belongs to the main thread. Where no upstream has a name, it starts no thread.
class name_watch
{
public:
    /// The workers outlive it.
    explicit name_watch(worker_group& workers) noexcept : workers_{workers} {}
    name_watch(name_watch&&) = delete;

    /// follow looks up the names of the present configuration from now on. Where the thread cannot
    /// be started, the log says so, and the names keep their addresses.
    void follow(logger const& log);

    /// look gives the workers the addresses that have been found since the last call, and logs what
    /// has changed, and where a name cannot be looked up any more, or can again. worker_group::news
    /// is readable when it is time.
    void look(logger const& log);

    /// counts are those of all lookups; null: there was none.
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

    void keep(name_in_use& name, std::vector<name_in_use> const& before, logger const& log);
    void log_failure(name_in_use& name, std::string const& failure, logger const& log);
    void place(name_in_use& name, std::vector<dns_target> const& targets, logger const& log);
    void change(name_in_use const& name, std::size_t number);

    worker_group& workers_;
    snapshot const* followed_ = nullptr; // Compared only.
    std::vector<name_in_use> names_;     // By number in the order.
    std::uint64_t order_ = 0;
    std::unique_ptr<resolver> resolver_;
};

} // namespace cleat::app
