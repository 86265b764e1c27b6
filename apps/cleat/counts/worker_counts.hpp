// worker_counts: the numbers that a worker publishes.

#pragma once

#include "counts/close_reason.hpp"
#include "counts/counters.hpp"
#include "counts/duration_counts.hpp"
#include "counts/named_counts.hpp"
#include "counts/shed_networks.hpp"
#include "failures/failure_examples.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/engine.hpp>
#include <cleat/tls/handshake_info.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <pthread.h>
#include <time.h>

namespace cleat::app {

/// traffic_count is what a worker counts of all its connections.
enum class traffic_count : std::uint8_t
{
    opened,         ///< Connections that were accepted.
    bytes_up,       ///< Plaintext from clients to upstreams.
    bytes_down,     ///< Plaintext from upstreams to clients.
    passed_through, ///< Connections whose TLS the upstream ends. Their bytes count like plaintext.
    ports_used_up,  ///< Connects that found no free local port.
    ports_awaited,  ///< Connections that have waited for one, because none was free to any server.
    limits_shared,  ///< Connections of clients without a place of their own in the client_table.
};
inline constexpr std::size_t traffic_count_size =
    static_cast<std::size_t>(traffic_count::limits_shared) + 1;

/// handshake_kind is the version and whether a session was resumed.
enum class handshake_kind : std::uint8_t
{
    full_1_2,
    resumed_1_2,
    full_1_3,
    resumed_1_3,
};
inline constexpr std::size_t handshake_kind_count = 4;

/// ticket_refusal is why the ticket that a client offered did not resume its session.
enum class ticket_refusal : std::uint8_t
{
    unknown_key,
    expired_or_other_scope, ///< The TLS library does not say which.
};
inline constexpr std::size_t ticket_refusal_count = 2;

/// session_id_use is what became of the ID of a session that a client offered.
enum class session_id_use : std::uint8_t
{
    resumed,
    unknown,
    expired_or_other_scope, ///< As for tickets.
};
inline constexpr std::size_t session_id_use_count = 3;

/// secret_place is that of a ticket secret: 0 is the one that seals.
enum class secret_place : std::uint8_t
{
};

/// failure_kind is why a handshake failed: an error of cleat's, whose number it then has, or one of
/// the system's.
enum class failure_kind : std::uint8_t
{
    system = 0,                                            ///< Any other of the system's.
    reset = static_cast<std::uint8_t>(error::library) + 1, ///< See is_reset.
};
inline constexpr std::size_t failure_kind_count = static_cast<std::size_t>(failure_kind::reset) + 1;

/// failure_kind_of an error; name_of is its name in metrics: "no-shared-cipher", "reset", "system".
[[nodiscard]] failure_kind failure_kind_of(error_code why) noexcept;
[[nodiscard]] std::string_view name_of(failure_kind why) noexcept;

/// failure_number is the number of a reason in worker_counts::examples: that of a handshake that
/// failed, or of another connection that failed.
inline constexpr std::size_t failure_number_count = failure_kind_count + close_reason_count;
[[nodiscard]] constexpr std::size_t failure_number(failure_kind why) noexcept
{
    return static_cast<std::size_t>(why);
}
[[nodiscard]] constexpr std::size_t failure_number(close_reason why) noexcept
{
    return failure_kind_count + static_cast<std::size_t>(why);
}

/// failure_name is the reason's name.
[[nodiscard]] std::string_view failure_name(std::size_t number) noexcept;

/// alert_number is that of a TLS alert (RFC 8446, section 6), below alert_count.
enum class alert_number : std::uint8_t
{
};
inline constexpr std::size_t alert_count = 128; ///< The highest registered one is 121.

/// alert_counts counts the fatal alerts of one phase of connections with clients.
struct alert_counts
{
    /// add counts the alerts of a connection that has failed.
    void add(int peer_alert, int own_alert) noexcept;

    counters<alert_number, alert_count> received;
    counters<alert_number, alert_count> sent;
};

/// frontend_counts is the connections of one frontend's address; null: they are not counted.
struct frontend_counts
{
    counted_name* opened = nullptr;
    counted_name* closed = nullptr;
    counted_name* queued = nullptr; ///< In the kernel, to be accepted.
};

/// worker_counts is made on its worker's thread, which alone writes to it, and lives until the
/// program ends. Any thread may read. It is larger than a page, so it fills cache lines of its own.
class worker_counts
{
public:
    worker_counts() noexcept;
    worker_counts(worker_counts&&) = delete;
    ~worker_counts() = default;

    /// established counts a finished handshake.
    void established(tls::handshake_info const& agreed) noexcept;

    /// failed counts a handshake that failed, with the alert that the peer sent and the one that
    /// cleat sent, or -1.
    void failed(error_code why, int peer_alert, int own_alert = -1) noexcept;

    /// upstream_handshake counts a handshake with a server of an upstream that has ended, and why
    /// it failed, if it did. False: the connect had failed before it, and nothing is counted.
    bool upstream_handshake(error_code why, tls::engine const& engine) noexcept;

    /// of_frontend is where the connections of an address are counted. It stays valid.
    [[nodiscard]] frontend_counts of_frontend(std::string_view address) noexcept
    {
        return {
            &frontends_opened.of(address), &frontends_closed.of(address),
            &frontends_queued.of(address)};
    }

    /// cpu_time is how long the thread has computed; nothing once it has ended. Any thread.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time() const noexcept;

    counters<traffic_count, traffic_count_size> traffic;
    counters<close_reason, close_reason_count> closed;
    counters<handshake_kind, handshake_kind_count> handshakes;
    counters<secret_place, limits::ticket_secrets_max> tickets_used;
    counters<ticket_refusal, ticket_refusal_count> tickets_refused;
    counters<session_id_use, session_id_use_count> session_ids;
    age_counts ticket_ages; ///< Of sessions that resumed by a ticket.
    age_counts id_ages;     ///< Of those that resumed by their ID.
    named_counts<24> ciphers;
    named_counts<24> groups;
    named_counts<24> signature_schemes;
    counters<failure_kind, failure_kind_count> failures;
    counters<handshake_kind, handshake_kind_count> upstream_handshakes;
    counters<failure_kind, failure_kind_count> upstream_failures; ///< Of handshakes.
    alert_counts handshake_alerts;                                ///< Those that ended a handshake.
    alert_counts connection_alerts; ///< Those that ended an established connection.
    failure_examples<failure_number_count> examples;
    named_counts<64> frontends_opened;
    named_counts<64> frontends_closed;
    std::atomic<std::uint64_t> handshakes_waiting{0}; ///< In line, when it was last asked.
    shed_networks shed;                               ///< By the networks of their clients.
    named_counts<64> frontends_queued;                ///< When the worker was last asked.

    // Each from accept(2) on, by the times at which the worker's loop woke up.
    duration_counts until_established;
    duration_counts until_connected;
    duration_counts until_first_byte; ///< The first plaintext of the upstream.
    duration_counts until_closed;

    // The parts of until_established: see handshake_phases.
    duration_counts until_hello;
    duration_counts hello_to_answer;
    duration_counts answer_to_established;

    std::atomic<bool> ended{false}; ///< The worker has ended.

private:
    void count_ticket(tls::handshake_info const& agreed) noexcept;

    clockid_t cpu_clock_{};
    bool has_cpu_clock_ = false;
};

} // namespace cleat::app
