// context_plan: the settings that the TLS contexts of a server's workers are made from. Not a
// public header.

#pragma once

#include <cleat/net/worker.hpp>
#include <cleat/net/worker_certificates.hpp>
#include <cleat/net/worker_contexts.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_collection.hpp>
#include <cleat/tls/store/certificate_supply.hpp>

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::net {

/// store_loading loads a server's certificates from its store: a thread that reads files, and each
/// worker's certificates. It outlives all contexts.
struct store_loading
{
    /// Starts the thread. The workers' certificates are still to be made. Throws std::system_error.
    explicit store_loading(std::size_t workers) : by_worker(workers) {}
    store_loading(store_loading&&) = delete;

    /// add makes the certificates of a worker.
    void add(net::worker& worker, std::size_t cache)
    {
        by_worker[worker.number()] = std::make_unique<worker_certificates>(worker, supply, cache);
    }

    tls::certificate_supply supply;
    std::vector<std::unique_ptr<worker_certificates>> by_worker;
};

/// present_loading has a server's store_loading once a context has a store. Any thread may call
/// each function.
class present_loading
{
public:
    present_loading() = default;
    present_loading(present_loading&&) = delete;
    ~present_loading() { std::unique_ptr<store_loading> const last{loading_.load()}; }

    /// find is null where there is none.
    [[nodiscard]] store_loading* find() const noexcept { return loading_.load(); }

    /// keep stores a store_loading unless there is one already, and returns the stored one: of two
    /// threads that have made one, the first thread's.
    store_loading& keep(std::unique_ptr<store_loading> made) noexcept
    {
        store_loading* present = nullptr;
        return loading_.compare_exchange_strong(present, made.get()) ? *made.release() : *present;
    }

private:
    std::atomic<store_loading*> loading_{nullptr};
};

/// context_plan belongs to one constructor of a server, or to one reload. With a store it keeps a
/// context of each worker, for the plan of the next reload to follow.
class context_plan
{
public:
    /// Reads the certificates of the spec's store; after an earlier plan, only those that have
    /// changed. It tries out the changed certificates. It also tries out the settings, unless the
    /// contexts of the plan `before` can serve these certificates. `before` has a store, and lives
    /// until finish. Throws tls::spec_error.
    context_plan(tls::context_spec spec, std::size_t workers, context_plan const* before);
    context_plan(context_plan&&) = delete;

    [[nodiscard]] bool has_store() const noexcept { return spec_.certificate_store.has_value(); }

    /// cache is the store's setting.
    [[nodiscard]] std::size_t cache() const noexcept { return spec_.certificate_store->cache; }

    /// make makes the context of one worker, once. Several threads may make contexts of different
    /// workers. `loading` is null where there is no store. Throws tls::spec_error.
    [[nodiscard]] std::list<counted_context> make(std::size_t worker, store_loading* loading);

    /// finish: all contexts are made. It drops the parts of the spec that the next plan does not
    /// need, such as the functions of its owner.
    void finish() noexcept;

private:
    [[nodiscard]] bool can_follow(context_plan const& before) const;
    void try_out() const;

    tls::context_spec spec_;
    std::shared_ptr<tls::certificate_collection const> certificates_;
    context_plan const* before_ = nullptr;          // Null: this plan's contexts follow none.
    std::vector<std::optional<tls::context>> kept_; // By worker. Empty: no other plan may follow.
};

/// present_plan keeps a server's plan with a store for the next reload. Any thread may call each
/// function.
class present_plan
{
public:
    present_plan() = default;
    present_plan(present_plan&&) = delete;
    ~present_plan() { put(nullptr); }

    /// take is null where there is no plan, and while another reload has taken it. The new plan
    /// then has no plan before it.
    [[nodiscard]] std::unique_ptr<context_plan> take() noexcept
    {
        return std::unique_ptr<context_plan>{plan_.exchange(nullptr)};
    }

    void put(std::unique_ptr<context_plan> next) noexcept
    {
        std::unique_ptr<context_plan> const replaced{plan_.exchange(next.release())};
    }

    /// put_back undoes take, unless another plan has come.
    void put_back(std::unique_ptr<context_plan> taken) noexcept
    {
        context_plan* none = nullptr;
        if (plan_.compare_exchange_strong(none, taken.get()))
            static_cast<void>(taken.release());
    }

private:
    std::atomic<context_plan*> plan_{nullptr};
};

} // namespace cleat::net
