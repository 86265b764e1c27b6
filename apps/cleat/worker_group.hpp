// worker_group: the workers of the program: their sockets, and their threads from start to end.

#pragma once

#include "close_reason.hpp"
#include "listening_place.hpp"
#include "log/log.hpp"
#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/tls/store/certificate_supply.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleat::app {

/// worker_group runs the workers: a worker_service and its listeners on each. Threads are pinned
/// when there is one for each CPU. With fewer, another program that pins would choose the same
/// CPUs.
class worker_group
{
public:
    /// Starts the threads, and returns when all of them accept. Throws tls::spec_error,
    /// with every thread ended again. `configuration` outlives the group.
    worker_group(snapshot const& configuration, bound_sockets sockets, logger log);
    worker_group(worker_group&&) = delete;

    /// Interrupts the connections that are left and waits for the threads.
    ~worker_group();

    /// places is where the workers listen.
    [[nodiscard]] std::vector<listening_place> const& places() const noexcept
    {
        return sockets_.places;
    }

    /// drain makes every worker stop accepting and end with its last connection.
    void drain();

    /// interrupt ends every connection now, and then the workers.
    void interrupt();

    /// ended is a descriptor that is readable when a worker has ended: look at running() then.
    [[nodiscard]] int ended() const noexcept { return ended_.get(); }

    /// take_ended makes that descriptor unreadable until the next worker ends.
    void take_ended() noexcept;

    /// running is how many workers have not ended.
    [[nodiscard]] std::size_t running() const noexcept { return running_.load(); }

    /// closed is how many connections ended for this reason on workers that have ended.
    [[nodiscard]] std::uint64_t closed(close_reason why) const noexcept
    {
        return closed_.at(static_cast<std::size_t>(why)).load();
    }

private:
    struct serving;

    [[nodiscard]] net::worker_pool_spec pool_spec();
    void begin(net::worker& worker);
    void end(net::worker& worker) noexcept;

    snapshot const& configuration_;
    bound_sockets sockets_;
    logger log_;
    std::unique_ptr<tls::certificate_supply> supply_; // Null: all certificates are loaded.
    unique_fd ended_;                                 // An eventfd.
    std::atomic<std::size_t> running_{0};
    std::array<std::atomic<std::uint64_t>, close_reason_count> closed_{};
    std::vector<std::unique_ptr<serving>> serving_; // Each lives on its worker's thread.
    net::worker_pool pool_;
};

} // namespace cleat::app
