#include <cleat/core/assert.hpp>
#include <cleat/net/server_contexts.hpp>

#include <utility>

namespace cleat::net {

server_contexts::server_contexts(tls::context_spec spec, std::size_t workers) : contexts_(workers)
{
    spec.role = tls::role::server;
    // Each worker builds its own context. A first one is built to throw before any thread starts.
    if (!spec.certificate_store)
        static_cast<void>(tls::context{spec});
    first_ = std::make_unique<context_plan>(std::move(spec), workers, nullptr);
    if (first_->has_store())
        loading_.keep(std::make_unique<store_loading>(workers));
}

void server_contexts::begin(worker& owner)
{
    std::size_t const i = owner.number();
    store_loading* const loading = loading_.find();
    if (loading != nullptr)
        loading->add(owner, first_->cache());
    contexts_[i] = std::make_unique<worker_contexts>(first_->make(i, loading));
}

store_loading& server_contexts::find_loading(std::size_t cache, worker_pool& pool)
{
    if (store_loading* const present = loading_.find())
        return *present;
    auto made = std::make_unique<store_loading>(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i)
        made->add(pool[i], cache);
    return loading_.keep(std::move(made));
}

std::vector<std::unique_ptr<context_delivery>> server_contexts::make_contexts(
    context_plan& next, worker_contexts::reload_number number, worker_pool& pool)
{
    store_loading* const loads = next.has_store() ? &find_loading(next.cache(), pool) : nullptr;
    std::vector<std::unique_ptr<context_delivery>> made;
    try {
        for (std::size_t i = 0; i < pool.size(); ++i)
            made.push_back(
                std::make_unique<context_delivery>(*contexts_[i], next.make(i, loads), number));
    } catch (...) { // The workers' library states may end before this thread does.
        for (std::size_t i = 0; loads != nullptr && i < pool.size(); ++i)
            loads->by_worker[i]->table().leave_thread();
        throw;
    }
    return made;
}

// Without a store nothing of it is kept, such as its private keys.
void server_contexts::keep(std::unique_ptr<context_plan> used) noexcept
{
    used->finish();
    plan_.put(used->has_store() ? std::move(used) : nullptr);
}

void server_contexts::reload(tls::context_spec spec, worker_pool& pool)
{
    // Taken first: of two calls at a time the later one decides on every worker.
    worker_contexts::reload_number const number = ++reloads_;
    spec.role = tls::role::server;
    for (std::size_t i = 0; i < pool.size(); ++i)
        CLEAT_ASSERT(!pool[i].get_executor().runs_here()); // It would wait for itself.

    std::unique_ptr<context_plan> before = plan_.take();
    std::vector<std::unique_ptr<context_delivery>> made;
    try {
        auto next = std::make_unique<context_plan>(std::move(spec), pool.size(), before.get());
        made = make_contexts(*next, number, pool);
        keep(std::move(next));
    } catch (...) {
        plan_.put_back(std::move(before));
        throw;
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
        // A worker that ends after this look destroys what is in its queue.
        if (!contexts_[i]->ended())
            pool[i].push(*made[i].release());
    }
    for (std::unique_ptr<worker_contexts> const& each : contexts_)
        each->wait_for(number);
}

} // namespace cleat::net
