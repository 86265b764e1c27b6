// tally: the counts and times of a worker. Each worker has its own. They are added up at the end,
// and so are those of several machines.

#pragma once

#include "generate/histogram.hpp"
#include "generate/load_spec.hpp"
#include "generate/outcome.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// latencies are recorded in nanoseconds to three digits, up to latency_max.
inline constexpr std::uint64_t latency_max = 3'600'000'000'000;

struct latency : histogram
{
    latency() : histogram{latency_max, 3} {}
};

/// percentile_level is a percentile of which results have a figure.
struct percentile_level
{
    std::string_view name; ///< In documents and metrics.
    std::string_view word; ///< In conditions and for people.
    double level;
};

/// percentile_levels are those of the documents, of CSV, of metrics and of conditions.
inline constexpr std::array<percentile_level, 4> percentile_levels{{
    {"p50", "p50", 50},
    {"p90", "p90", 90},
    {"p99", "p99", 99},
    {"p99_9", "p99.9", 99.9},
}};

/// agreement is what a number of handshakes agreed on.
struct agreement
{
    std::string version;
    std::string cipher;
    std::string group;
    std::uint64_t count = 0;
};

/// early_counts are of connections whose ClientHello brought early data (RFC 8446, section 2.3).
struct early_counts
{
    std::uint64_t offered = 0; ///< The sum of the others.
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0; ///< The request was sent again after the handshake.
};

/// websocket_counts are of a load over WebSockets.
struct websocket_counts
{
    websocket_use use = websocket_use::open;
    std::uint64_t openings = 0;       ///< Connections that were started to open a WebSocket.
    std::uint64_t opened_in_time = 0; ///< Opened in the time in which transactions were to begin.
    std::uint64_t pings = 0;    ///< Pings of the server. Each, or the last of several, got a pong.
    std::uint64_t messages = 0; ///< Messages received, with echoes.
    /// From a connection's intended start to the end of its opening; where connections are kept,
    /// from their start.
    latency opening{};

    /// opened is how many of the openings were ok.
    [[nodiscard]] std::uint64_t opened() const noexcept { return opening.count(); }
    /// opening_percentile is of all openings: one that failed ranks behind every other.
    [[nodiscard]] std::optional<std::uint64_t> opening_percentile(double p) const noexcept;
    /// merge adds what another worker or machine has counted.
    void merge(websocket_counts const& other) noexcept;
};

/// http2_counts are of a load by HTTP/2. Those of connections have the ones of the warm-up too.
struct http2_counts
{
    unsigned streams = 1;          ///< Streams that a connection was to have open at once.
    unsigned open_max = 0;         ///< The most streams that a connection had open.
    std::uint64_t connections = 0; ///< Connections whose server has sent its SETTINGS.
    std::uint64_t limited = 0;     ///< Those of them that allow fewer than `streams`.
    std::optional<std::uint32_t> allowed_min{}; ///< The fewest streams that a server allowed.
    std::uint64_t goaways = 0;                  ///< Connections that the server ended by GOAWAY.
    std::uint64_t resent = 0; ///< Requests that a graceful GOAWAY left out, and were sent again.

    /// merge adds what another worker or machine has counted.
    void merge(http2_counts const& other) noexcept;
};

/// path_counts are of one of several paths.
struct path_counts
{
    std::string path;
    std::uint64_t attempts = 0;
    std::uint64_t ok = 0;
    latency response{}; ///< As that of the tally.

    /// response_percentile is as that of the tally.
    [[nodiscard]] std::optional<std::uint64_t> response_percentile(double p) const noexcept;
};

/// interval is one stretch of the timeline. Attempts count in the interval in which they were meant
/// to begin, ends in the interval in which they came.
struct interval
{
    std::uint64_t attempted = 0;
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
    std::uint64_t response_ns = 0; ///< Sum over those that were ok.
    std::uint64_t response_ns_max = 0;
};

/// add adds one to another.
void add(interval& sum, interval const& more) noexcept;
/// The timeline `more` begins this many intervals later than `sum`.
void add(std::vector<interval>& sum, std::vector<interval> const& more, std::size_t later = 0);

/// tally has values only: a copy is a picture of its moment.
struct tally
{
    std::uint64_t attempts = 0;
    std::uint64_t ok = 0;
    bench::failures failures;

    std::uint64_t connections = 0; ///< That were begun.
    std::uint64_t full = 0;        ///< Handshakes.
    std::uint64_t resumed = 0;
    std::uint64_t offered = 0;         ///< Sessions that were offered, resumed or not.
    std::optional<early_counts> early; ///< Unset: the load has no early data.
    std::vector<agreement> agreed;
    std::uint64_t drained = 0;    ///< Transactions that ended after the time in which they began.
    std::uint64_t drained_ok = 0; ///< Of these, the ones that were ok.
    /// Transactions that were due and had no end yet when half of that time was over. A number that
    /// is still the same at the end (`drained`) is work under way; one that has grown is a queue.
    std::uint64_t pending_at_half = 0;

    std::vector<path_counts> paths;            ///< Empty: the load has one path.
    std::optional<websocket_counts> websocket; ///< Unset: the load opens none.
    std::optional<http2_counts> http2;         ///< Unset: the load does not speak HTTP/2.

    std::uint64_t bytes_up = 0; ///< Plaintext.
    std::uint64_t bytes_down = 0;

    latency tcp;         ///< From the first packet to the connection.
    latency tls;         ///< From there to the end of the handshake, of full handshakes.
    latency tls_resumed; ///< The same, of resumed ones, with early data or without.
    latency first_byte;  ///< From the request's first byte to the answer's. An accepted early
                         ///< request begins with the ClientHello.
    latency response;    ///< From the intended start to the answer's last byte.
    latency slip; ///< From the intended start to the first packet: the generator's own delay.
    latency lag;  ///< How late a worker came to a timer of its own, every 10 ms.

    std::chrono::nanoseconds interval_length = std::chrono::seconds{1};
    std::vector<interval> timeline;
    /// The same, with each end in the interval in which its transaction was meant to begin: a
    /// step's transactions are in it, however late they end. A transaction that was cut off has no
    /// end here. Empty without load_spec::by_start.
    std::vector<interval> by_start;

    std::chrono::nanoseconds cpu{}; ///< Of the worker's thread, from the warm-up's end to the last.

    /// failed is the sum of all failures.
    [[nodiscard]] std::uint64_t failed() const noexcept;

    /// response_percentile is of all attempts: a failure has no response, and ranks behind every
    /// answer. Unset where a failure has this rank, and without attempts.
    [[nodiscard]] std::optional<std::uint64_t> response_percentile(double p) const noexcept;

    void count_agreement(std::string_view version, std::string_view cipher, std::string_view group);
    [[nodiscard]] interval& interval_at(std::chrono::nanoseconds since_begin);
    [[nodiscard]] interval& by_start_at(std::chrono::nanoseconds since_begin);

    /// merge adds what another worker or machine has counted. Both must have the same
    /// interval_length; the other's timeline begins this many intervals after this one's.
    void merge(tally const& other, std::size_t begins_later = 0);
};

} // namespace cleat::bench
