// worker_certificates: a worker's certificates from the store: those that are loaded, those on
// their way, and those that cannot be loaded.

#pragma once

#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/store/certificate_supply.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cleat::app {

/// worker_certificates belongs to its worker's thread. Its certificates are its own: two workers
/// that serve the same name have each loaded it.
class worker_certificates
{
public:
    /// Loads with `supply`, which outlives it, as the store does.
    worker_certificates(
        net::worker& worker, tls::certificate_supply& supply, tls::certificate_store const& store,
        std::size_t capacity);
    worker_certificates(worker_certificates&&) = delete;

    /// Waits for a file of this worker's that is being read. No connection waits here by then.
    ~worker_certificates();

    /// table is what this worker's TLS contexts serve from.
    [[nodiscard]] tls::certificate_table& table() noexcept { return table_; }

    /// is_idle: no certificate is being loaded.
    [[nodiscard]] bool is_idle() const noexcept { return under_way_.empty(); }

    /// on_idle sets what is called when the last load has ended. Must not throw.
    void on_idle(std::function<void()> call) { on_idle_ = std::move(call); }

    class arrival;

private:
    using number = tls::certificate_store::number;
    struct fetch;
    struct failure
    {
        number certificate;
        net::worker::clock::time_point forgotten_at;
        std::string text;
    };

    [[nodiscard]] bool has_failed(tls::certificate_request& request);
    void join(arrival& waiting);
    void finished(fetch& load) noexcept;
    void remember(fetch const& failed);

    net::worker& worker_;
    tls::certificate_supply& supply_;
    tls::certificate_table table_;
    std::unordered_map<number, fetch*> under_way_; // Each is owned by the supply, then the worker.
    std::function<void()> on_idle_;
    std::vector<failure> failures_;               // The oldest first.
    std::shared_ptr<std::atomic<int>> in_supply_; // How many of under_way_ the supply has.
};

/// worker_certificates::arrival is awaited by a handshake that wants a certificate: it ends when
/// the request has the certificate, or why there is none; or with the reason that the interrupt was
/// raised for. Connections that want the same certificate share one load, and go on as handshakes
/// do, in their turn.
class [[nodiscard]] worker_certificates::arrival : net::waiter, net::task_node
{
public:
    arrival(
        worker_certificates& certificates, net::interrupt& interrupt,
        tls::certificate_request& request) noexcept;
    arrival(arrival&&) = delete;

    [[nodiscard]] bool await_ready();
    void await_suspend(std::coroutine_handle<> caller);
    [[nodiscard]] error_code await_resume() const noexcept { return error_; }

private:
    friend class worker_certificates;

    void leave() noexcept;
    void settle(fetch const& load) noexcept;
    static void on_wake(net::waiter& w, error_code ec) noexcept;
    static void on_turn(net::task_node& n, bool run) noexcept;

    worker_certificates& certificates_;
    net::interrupt& interrupt_;
    tls::certificate_request& request_;
    std::coroutine_handle<> caller_;
    fetch* load_ = nullptr; // While it waits for one.
    arrival* previous_ = nullptr;
    arrival* next_ = nullptr;
    error_code error_;
};

} // namespace cleat::app
