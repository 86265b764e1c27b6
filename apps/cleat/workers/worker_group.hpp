// worker_group: the workers of the program: their sockets and configurations, and their threads
// from start to end.

#pragma once

#include "acme/challenge_maker.hpp"
#include "admin/metric_table.hpp"
#include "counts/close_reason.hpp"
#include "health/upstream_states.hpp"
#include "liveness/worker_probe.hpp"
#include "liveness/worker_watch.hpp"
#include "log/log.hpp"
#include "memory/memory_level.hpp"
#include "privileged/opener.hpp"
#include "snapshot/generation.hpp"
#include "snapshot/listening_place.hpp"
#include "system/mailbox.hpp"
#include "system/wakeup.hpp"
#include "worker/worker_connections.hpp"
#include "workers/terminator_worker.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/worker_pool.hpp>
#include <cleat/net/worker_sessions.hpp>
#include <cleat/tls/store/certificate_supply.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

/// successor is a configuration that is ready to replace the present one.
struct successor
{
    std::vector<std::unique_ptr<net::worker_certificates>>
        certificates; ///< Where a worker needs some.
    std::unique_ptr<generation> made;
    std::vector<worker_part> parts;                               ///< By worker.
    std::vector<std::shared_ptr<worker_contexts const>> contexts; ///< Those of the parts.
};

/// worker_group runs the workers: a terminator_worker on each. Threads are pinned when there is one
/// for each CPU. With fewer, another program that pins would choose the same CPUs.
///
/// The main thread uses it.
class worker_group
{
public:
    /// Starts the threads, and returns when all of them accept. Throws tls::spec_error, with every
    /// thread ended again. `sockets` is bind_all's. root_files opens what this process may not; it
    /// outlives the group.
    worker_group(
        std::unique_ptr<generation> first, bound_sockets sockets, opener const& root_files);
    worker_group(worker_group&&) = delete;

    /// Interrupts the connections that are left and waits for the threads.
    ~worker_group();

    /// present is the configuration of new connections.
    [[nodiscard]] generation const& present() const noexcept { return *generations_.back(); }

    /// present_number is that of the present configuration: 1 at the start, and one more after each
    /// replace.
    [[nodiscard]] std::uint64_t present_number() const noexcept
    {
        return generations_freed_ + generations_.size();
    }

    /// places is where the workers listen.
    [[nodiscard]] std::vector<listening_place> const& places() const noexcept { return places_; }

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }

    /// prepare makes each worker's part of a configuration, with its TLS contexts. Another thread
    /// may call it, until the next call of replace. Throws tls::spec_error, std::bad_alloc.
    [[nodiscard]] successor prepare(std::unique_ptr<generation> made, bound_sockets sockets);

    /// replace gives every worker the new configuration, which is now the present one, and does not
    /// wait. is_replaced() becomes true when all workers have it. Do not call replace again before
    /// that. Throws std::bad_alloc, with nothing changed, `next` included.
    void replace(successor&& next);
    [[nodiscard]] bool is_replaced() const noexcept { return not_replaced_.load() == 0; }

    /// upstreams is what is known of the servers of the present configuration. A change there
    /// reaches every worker, without a wait.
    [[nodiscard]] upstream_states& upstreams() noexcept { return upstreams_; }

    /// watch asks every worker whether its loop turns.
    [[nodiscard]] worker_watch& watch() noexcept { return *watch_; }
    [[nodiscard]] worker_watch const& watch() const noexcept { return *watch_; }

    /// end_ticket_epochs moves on the ratchets of all configurations whose epoch is over, and makes
    /// every worker forget its keys of before. While `is_reloading`, when another thread reads
    /// them, ratchets stay as they are, and the next call moves them on. The result is when the
    /// next epoch ends; unset where there is no ratchet. Throws std::bad_alloc.
    std::optional<std::chrono::system_clock::time_point> end_ticket_epochs(
        std::chrono::system_clock::time_point now, bool is_reloading);

    /// drain makes every worker stop accepting and end with its last connection.
    void drain();

    /// interrupt ends every connection now, and then the workers.
    void interrupt();

    /// news is a descriptor that is readable when a worker has ended, has replaced its
    /// configuration, has released one, or asks for the answer to an ACME challenge.
    [[nodiscard]] int news() const noexcept { return news_.native_handle(); }

    /// wake makes that descriptor readable. Any thread.
    void wake() const noexcept { news_.wake(); }

    /// take_news makes that descriptor unreadable until the next news, and frees the configurations
    /// that no connection has any more.
    void take_news() noexcept;

    /// answer_challenges makes what connections of ACME servers wait for. Call it after each news.
    void answer_challenges() noexcept { challenges_.serve(); }

    /// end_access_logs ends the access logs of all configurations. No worker is running.
    void end_access_logs() noexcept;

    /// running is how many workers have not ended.
    [[nodiscard]] std::size_t running() const noexcept { return running_.load(); }

    /// closed is how many connections ended for this reason.
    [[nodiscard]] std::uint64_t closed(close_reason why) const noexcept;

    /// count fills in how many connections are open, and how many of them have not finished their
    /// handshake. Any thread.
    void count(memory_reading& reading) const noexcept;

    /// give lets every worker follow a share of the memory, without a wait. One thread, which ends
    /// before the group.
    void give(memory_share share) noexcept;

    /// memory_freed grows whenever much memory has become free: see trim_schedule.
    [[nodiscard]] std::uint64_t memory_freed() const noexcept;

    /// sources is where the numbers of each worker come from. They live as long as the group.
    [[nodiscard]] std::vector<worker_source> sources() const;

    /// generations is how many configurations connections still have, the present one included.
    [[nodiscard]] std::size_t generations() const noexcept { return generations_.size(); }

private:
    struct replacement;
    struct table_change;

    [[nodiscard]] std::unique_ptr<net::worker_certificates> new_certificates(
        net::worker& worker, generation const& made);

    [[nodiscard]] net::worker_pool_spec pool_spec();
    [[nodiscard]] watched_worker watched(std::size_t number);
    void publish(std::size_t upstream, upstream_table const& table);
    void begin(net::worker& worker);
    void end(net::worker& worker) noexcept;
    void release(std::unique_ptr<worker_service> free) noexcept;

    std::vector<std::unique_ptr<generation>> generations_; // The present one is the last.
    std::uint64_t generations_freed_ = 0;
    upstream_states upstreams_;
    std::vector<listening_place> places_;
    std::vector<std::vector<unique_fd>> first_sockets_;
    wakeup news_;
    challenge_maker challenges_;
    std::atomic<std::size_t> running_{0};
    std::atomic<std::size_t> not_replaced_{0}; // Workers.
    mailbox<worker_service, &worker_service::next_released> released_;
    // A reload may need it first, but its thread would pass on its low priority.
    tls::certificate_supply supply_;
    std::vector<std::unique_ptr<net::worker_certificates>> certificates_; // By worker.
    // Of the present configuration, by worker. Not read by the workers.
    std::vector<std::shared_ptr<worker_contexts const>> contexts_;
    net::session_owners session_owners_;
    std::vector<std::unique_ptr<net::worker_sessions>> sessions_;  // By worker, made as the next:
    std::vector<std::unique_ptr<worker_connections>> connections_; // Made on the workers' threads.
    std::vector<std::unique_ptr<terminator_worker>> workers_;      // Live on the workers' threads.
    // By worker. The main thread asks the first ones, and the admin thread the others.
    std::vector<std::unique_ptr<worker_probe>> life_probes_;
    std::vector<std::unique_ptr<worker_probe>> queue_probes_;
    std::vector<std::unique_ptr<worker_probe>> memory_probes_; // Asked by the thread of give.
    std::atomic<memory_share> memory_share_{};
    std::optional<net::worker_pool> pool_;
    std::optional<worker_watch> watch_;
};

} // namespace cleat::app
