// worker_contexts: the TLS contexts of one worker of a server, and their way to it. Not a public
// header.

#pragma once

#include <cleat/net/executor.hpp>
#include <cleat/net/worker_certificates.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_collection.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>

namespace cleat::net {

class worker_contexts;

/// store_use names the certificates of a context with a store.
struct store_use
{
    std::shared_ptr<tls::certificate_collection const> certificates;
    worker_certificates* loaded = nullptr; ///< The worker's: it outlives the context.
    std::size_t cache = 0;                 ///< See certificate_store_spec.
};

/// counted_context is a TLS context that counts its streams.
struct counted_context : tls::engine_count
{
    /// Throws tls::spec_error, std::bad_alloc.
    explicit counted_context(tls::context_spec const& spec);
    counted_context(tls::context made, store_use certificates);
    counted_context(counted_context&&) = delete;

    store_use store; ///< Without `loaded`: the context has its certificates.
    tls::context context;
    worker_contexts* owner = nullptr; ///< From the time that a worker has it.
};

/// worker_contexts has the context of a worker's new connections, and the replaced contexts that
/// older connections still use. A replaced context ends with its last stream.
///
/// It belongs to its worker's thread, except for ended and wait_for. It must outlive the worker,
/// whose destructor ends the handlers that were abandoned, with their streams.
class worker_contexts
{
public:
    /// reload_number counts the reloads of a server; 0 is its start.
    using reload_number = std::uint32_t;

    /// first is a list of one.
    explicit worker_contexts(std::list<counted_context>&& first) noexcept;
    worker_contexts(worker_contexts&&) = delete;

    /// present is the context of new connections.
    [[nodiscard]] tls::context& present() noexcept { return all_.front().context; }

    /// certificates loads the certificates of the present context's store; null where the context
    /// has no store.
    [[nodiscard]] worker_certificates* certificates() noexcept { return all_.front().store.loaded; }

    /// replace makes `next`, a list of one, the present context, unless the worker has the context
    /// of a later reload. It allocates nothing.
    void replace(std::list<counted_context>&& next, reload_number number) noexcept;

    /// end: the worker takes no more contexts, and loads no more certificates. No connection is in
    /// its handshake any more.
    void end() noexcept;

    /// ended: end was called. Any thread.
    [[nodiscard]] bool ended() const noexcept { return taken_.load() == none_follows; }

    /// wait_for blocks until replace was called for this reload or a later one, or end was called.
    /// Any thread but the worker's may call it.
    void wait_for(reload_number number) const noexcept;

private:
    friend struct counted_context;

    static constexpr reload_number none_follows = std::numeric_limits<reload_number>::max();

    void take_store() noexcept;
    void free_if_replaced(counted_context& unused) noexcept;

    std::list<counted_context> all_;        // The present context is the first.
    worker_certificates* loaded_ = nullptr; // Null: no context had a store.
    std::atomic<reload_number> taken_{0};
};

/// context_delivery is a context on its way to a worker, whose queue owns it.
struct context_delivery : task_node
{
    /// `delivered` is a list of one. `receiver` outlives the worker.
    context_delivery(
        worker_contexts& receiver, std::list<counted_context>&& delivered,
        worker_contexts::reload_number reload);
    context_delivery(context_delivery&&) = delete;

    worker_contexts& target;
    std::list<counted_context> made; // One: the worker allocates no node.
    worker_contexts::reload_number number;
};

} // namespace cleat::net
