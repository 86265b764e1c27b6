// server_contexts: the TLS contexts that a server's workers have for one of its listeners, and how
// they are replaced. Not a public header.

#pragma once

#include <cleat/net/context_plan.hpp>
#include <cleat/net/worker_contexts.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/context_spec.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::net {

/// server_contexts is made by the server's constructor. Each worker then has its part: begin, of
/// and end are for the worker's own thread. Any other thread may call reload.
class server_contexts
{
public:
    /// Throws tls::spec_error, before any worker starts.
    server_contexts(tls::context_spec spec, std::size_t workers);
    server_contexts(server_contexts&&) = delete;

    /// begin makes the context of a worker. Throws tls::spec_error.
    void begin(worker& owner);

    /// begun: begin was called for each worker.
    void begun() noexcept { keep(std::move(first_)); }

    [[nodiscard]] worker_contexts& of(worker const& owner) noexcept
    {
        return *contexts_[owner.number()];
    }

    /// end: the worker takes no more contexts.
    void end(worker const& owner) noexcept { contexts_[owner.number()]->end(); }

    /// reload: see server::reload.
    void reload(tls::context_spec spec, worker_pool& pool);

private:
    store_loading& find_loading(std::size_t cache, worker_pool& pool);
    std::vector<std::unique_ptr<context_delivery>> make_contexts(
        context_plan& next, worker_contexts::reload_number number, worker_pool& pool);
    void keep(std::unique_ptr<context_plan> used) noexcept;

    std::atomic<worker_contexts::reload_number> reloads_{0};
    present_loading loading_;
    present_plan plan_;
    std::unique_ptr<context_plan> first_;                    // Until begun.
    std::vector<std::unique_ptr<worker_contexts>> contexts_; // By worker.
};

} // namespace cleat::net
