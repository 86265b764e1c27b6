// worker_group: the workers of the program: their sockets, their threads, their beginning and end.

#pragma once

#include "log/log.hpp"
#include "snapshot.hpp"
#include "worker_service.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/worker_pool.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// bound is every listening socket: for each worker, one for each address.
struct bound
{
    std::vector<std::vector<listening>> by_worker;
    std::vector<std::string> addresses; ///< With the port that port 0 became.
    std::vector<problem> problems;      ///< Errors: nothing is to be started.
};

/// bind_all binds for so many workers. It comes before privileges are dropped: ports below 1024.
[[nodiscard]] bound bind_all(snapshot const& use, std::size_t workers);

/// foresee_binding appends what bind_all would say of addresses that this machine does not have. It
/// takes no port, so the cleat that is checked for may be running.
void foresee_binding(snapshot const& use, std::vector<problem>& problems);

/// worker_group runs a service on each of its workers. They are pinned when there is one for each
/// CPU: fewer would all choose the same CPUs as the next program that does so.
class worker_group
{
public:
    /// Starts the threads, and returns when all of them accept. Throws what a service throws, with
    /// every thread ended again. `use` outlives the worker_group.
    worker_group(snapshot const& use, bound sockets, logger log);
    worker_group(worker_group&&) = delete;

    /// Interrupts what is left and waits for the threads.
    ~worker_group();

    /// drain lets every worker stop accepting and end with its last connection.
    void drain();

    /// interrupt ends every connection now, and then the workers.
    void interrupt();

    /// ended is readable when a worker has ended: look at running() then.
    [[nodiscard]] int ended() const noexcept { return ended_.get(); }

    /// take_ended makes it unreadable again.
    void take_ended() noexcept;

    /// running is how many workers have not ended.
    [[nodiscard]] std::size_t running() const noexcept { return running_.load(); }

    /// closed is how many connections ended for this reason on workers that have ended.
    [[nodiscard]] std::uint64_t closed(close_reason why) const noexcept
    {
        return closed_.at(static_cast<std::size_t>(why)).load();
    }

private:
    [[nodiscard]] net::worker_pool_spec pool_spec();
    void begin(net::worker& on);
    void end(net::worker& on) noexcept;

    snapshot const& use_;
    bound sockets_;
    logger log_;
    unique_fd ended_; // An eventfd.
    std::atomic<std::size_t> running_{0};
    std::array<std::atomic<std::uint64_t>, close_reason_count> closed_{};
    std::vector<std::unique_ptr<worker_service>> services_; // Each lives on its worker's thread.
    net::worker_pool pool_;
};

} // namespace cleat::app
