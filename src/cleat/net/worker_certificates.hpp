// worker_certificates: a worker's certificates from the store: those that are loaded, those on
// their way, and those that cannot be loaded. Not a public header.

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
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cleat::net {

/// worker_certificates belongs to its worker's thread and serves all of its configurations: an
/// unchanged certificate stays loaded. Workers share no certificates: two workers that serve the
/// same name have loaded it twice.
class worker_certificates
{
public:
    /// Loads with `supply`, which outlives it. Any thread may make it.
    worker_certificates(net::worker& worker, tls::certificate_supply& supply, std::size_t capacity);
    worker_certificates(worker_certificates&&) = delete;

    ~worker_certificates();

    /// end abandons the loads. It waits while a file is read for this worker. No connection waits
    /// for a certificate by then, and none will. After end the worker need not exist any more.
    void end() noexcept;

    /// table has the certificates that this worker's TLS contexts serve.
    [[nodiscard]] tls::certificate_table& table() noexcept { return table_; }

    /// renew: a configuration begins. Files that could not be used are tried again.
    void renew(std::size_t capacity) noexcept;

    /// clear drops the certificates that are loaded.
    void clear() noexcept { table_.clear(); }

    [[nodiscard]] net::worker& worker() const noexcept { return worker_; }

    class waiting;
    class arrival;

private:
    struct fetch;
    struct failure
    {
        tls::file_digest certificate;
        tls::certificate_paths paths; // Files elsewhere may have the same content, and be good.
        net::worker::clock::time_point forgotten_at;
        std::string text;
    };

    [[nodiscard]] bool has_failed(tls::certificate_request& request);
    void join(waiting& added);
    void finished(fetch& load) noexcept;
    void remember(fetch const& failed);

    net::worker& worker_;
    tls::certificate_supply& supply_;
    tls::certificate_table table_;
    // By digest. Each is owned by the supply, then by the worker.
    std::unordered_map<tls::file_digest, fetch*, tls::digest_hash> under_way_;
    std::vector<failure> failures_;               // The oldest first.
    std::shared_ptr<std::atomic<int>> in_supply_; // How many of under_way_ the supply has.
};

/// worker_certificates::waiting is a handshake's place among those that wait for a certificate.
/// Handshakes that want the same certificate share one load.
class worker_certificates::waiting
{
public:
    waiting(waiting&&) = delete;

protected:
    /// Called once, when the request has the certificate or the reason why there is none; or with
    /// an error, where there is no memory for either.
    using on_settled = void (*)(waiting& self, error_code ec) noexcept;

    waiting(
        worker_certificates& certificates, tls::certificate_request& request,
        on_settled settled) noexcept
        : certificates_{certificates}, request_{request}, settled_{settled}
    {
    }
    ~waiting() = default;

    /// has_failed: the certificate could not be loaded a short while ago, and the request has the
    /// reason. False: call join.
    [[nodiscard]] bool has_failed() { return certificates_.has_failed(request_); }

    /// join begins to wait. Where it throws std::bad_alloc, no wait has begun.
    void join() { certificates_.join(*this); }

    /// leave ends a wait that has not been settled.
    void leave() noexcept;

    [[nodiscard]] net::worker& worker() const noexcept { return certificates_.worker(); }

private:
    friend class worker_certificates;

    void settle(fetch const& load) noexcept;

    worker_certificates& certificates_;
    tls::certificate_request& request_;
    on_settled settled_;
    fetch* load_ = nullptr; // While it waits for one.
    waiting* previous_ = nullptr;
    waiting* next_ = nullptr;
};

/// worker_certificates::arrival waits for a certificate: a handshake awaits it. The wait ends when
/// the request has the certificate or the reason why there is none; or with the reason of an
/// interrupt. Handshakes go on in their turn. For tasks; async_arrival is for Asio.
class [[nodiscard]] worker_certificates::arrival : waiter, task_node, waiting
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
    static void on_settle(waiting& w, error_code ec) noexcept;
    static void on_wake(waiter& w, error_code ec) noexcept;
    static void on_turn(task_node& n, bool run) noexcept;

    net::interrupt& interrupt_;
    std::coroutine_handle<> caller_;
    error_code error_;
};

} // namespace cleat::net
