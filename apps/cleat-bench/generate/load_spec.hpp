// load_spec: everything that a load is made of, as plain values with every default stated.

#pragma once

#include "generate/pacer.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cleat::bench {

/// weighted_name is a name for SNI and how often it is used, relative to the others.
struct weighted_name
{
    std::string name;
    unsigned weight = 1;
};

/// closed keeps a number of connections busy: the next transaction begins when one has ended, so a
/// slow server gets fewer requests.
struct closed
{
    unsigned connections = 10;
};

/// open begins transactions when they are due, as users do, however slow the server is.
struct open
{
    std::vector<phase> phases;
    arrivals spacing = arrivals::constant;
    std::uint64_t seed = 1;
};

/// kept_gaps is when a kept connection sends its requests.
enum class kept_gaps : std::uint8_t
{
    random_in_period, ///< At a random moment of every period.
    constant,         ///< Once a period; the connections take turns.
    poisson,          ///< After exponential gaps, a period long on average.
};

/// kept opens a number of connections and keeps them: each sends requests when they are due,
/// however slow the server is. The response time counts from then, so it includes the wait for the
/// answer to the request before.
struct kept
{
    unsigned connections = 10;
    std::chrono::nanoseconds period = std::chrono::milliseconds{200};
    std::uint64_t seed = 1;
    kept_gaps gaps = kept_gaps::random_in_period;
    /// A request that is due, and still waits for its connection when the time is up, is a failure
    /// and not sent. Otherwise it is sent late.
    bool ends_on_time = false;
    /// Connections open their WebSockets in so much time before the first message is due. It is a
    /// part of the load's warm-up.
    std::chrono::nanoseconds open_ahead{};
};

/// weighted_request is a request for one of several paths, and how often it is sent, relative to
/// the others.
struct weighted_request
{
    std::string path;
    std::string request;
    unsigned weight = 1;
};

/// exchange is the requests of a connection, and the answers that are right.
struct exchange
{
    std::string request; ///< Sent as it is.
    /// Two paths or more: each transaction sends the request of one, by their weights, and not the
    /// one above.
    std::vector<weighted_request> by_path;
    bool http = true;          ///< The answer is HTTP/1.x; otherwise bytes.
    bool head = false;         ///< The request is HEAD.
    bool until_head = false;   ///< An HTTP answer ends with its head, where that has the size.
    unsigned requests = 1;     ///< On one connection, one after the other; each is a transaction.
    std::optional<int> status; ///< That an HTTP answer must have; unset: 200 to 399.
    /// The size of a right body; an answer that is plain bytes ends there. Unset: any size is
    /// right, and an answer that is plain bytes ends with the connection.
    std::optional<std::uint64_t> size;
    std::string body; ///< A right body has this text somewhere; empty: any is right.
};

/// websocket_use is what the clients of a load do with a WebSocket.
enum class websocket_use : std::uint8_t
{
    open, ///< Open and close it: a transaction is an opening.
    echo, ///< Send messages, each after the echo of the one before: a transaction is a message.
    hold, ///< Open it and keep it until the time is up: a transaction is an opening that lasts.
};

/// name_of a use in documents: "open", "echo", "hold".
[[nodiscard]] std::string_view name_of(websocket_use use) noexcept;
[[nodiscard]] bool parse(std::string_view name, websocket_use& parsed) noexcept;

/// websocket_load has each connection open a WebSocket (RFC 6455) by the request of the exchange,
/// whose `requests` is the number of messages then.
struct websocket_load
{
    websocket_use use = websocket_use::open;
    std::uint64_t message_size = 125;
    bool is_binary = false;   ///< Messages are; otherwise they are text.
    std::string subprotocols; ///< That the request offers, with commas.
};

/// http2_request is the head of a request as HTTP/2 sends it (RFC 9113, section 8.3.1): the
/// pseudo-header fields first, and names in lower case.
struct http2_request
{
    std::vector<std::pair<std::string, std::string>> fields;
};

/// http2_load has the connections speak HTTP/2, with the answers of the exchange. The context of
/// its TLS offers "h2" alone (RFC 9113, section 3.2).
struct http2_load
{
    static constexpr unsigned streams_max = 10'000;

    unsigned streams = 1;                ///< That a connection has open at most; each is a request.
    std::vector<http2_request> requests; ///< One for each path, in the order of the exchange.
    std::string body;                    ///< Of each request; empty: none.
};

/// reuse is how sessions are resumed.
struct reuse
{
    /// How many connections a session serves: one full handshake, and the others resumed. 1: no
    /// connection resumes.
    unsigned per_session = 1;
    /// Instead: this part of the connections is to resume, from a pool of sessions.
    std::optional<double> ratio;
    bool by_ticket = true; ///< False: by session ID (TLS 1.2).

    [[nodiscard]] bool any() const noexcept { return per_session > 1 || ratio; }
};

enum class ending : std::uint8_t
{
    fin,  ///< close_notify and FIN, once the answer is there.
    reset ///< RST: leaves no port in TIME_WAIT.
};

/// timeouts of each stage; a transaction that misses one is a failure of that stage.
struct timeouts
{
    std::chrono::milliseconds connect{3000};
    std::chrono::milliseconds handshake{5000};
    std::chrono::milliseconds answer{10000}; ///< Of each silence while an answer is awaited.
};

/// client_defaults is a client's TLS without any options. It verifies no certificate: that is the
/// client's work, and would be measured with the server's.
[[nodiscard]] inline tls::context_spec client_defaults()
{
    tls::context_spec spec;
    spec.role = tls::role::client;
    return spec;
}

struct load_spec
{
    std::string target;                ///< As it was written, for reports.
    std::string port;                  ///< As the request's Host has it.
    net::address address;              ///< Of the server.
    std::vector<net::address> sources; ///< Used in turn; empty: the kernel chooses.
    tls::context_spec tls = client_defaults();
    std::vector<weighted_name> names; ///< Empty: tls.server_name alone.
    bench::exchange exchange;
    std::optional<websocket_load> websocket; ///< Unset: the exchange is of HTTP, or of bytes.
    std::optional<http2_load> http2;         ///< Set: by HTTP/2, and exchange.request is not used.
    std::variant<closed, open, kept> loop;
    std::chrono::nanoseconds duration = std::chrono::seconds{10};
    std::chrono::nanoseconds warm_up{};        ///< Transactions that begin in it are not counted.
    std::optional<std::uint64_t> transactions; ///< The load ends after so many, too.
    bench::reuse reuse;
    bool early_data = false; ///< The first request is 0-RTT data, where a session allows it.
    /// A connection carries requests until the time is up, and exchange.requests is not used. One
    /// that the server ends after an answer is replaced. Of `closed` only; `kept` always does.
    bool keep = false;
    /// The Finished is sent by itself and the request right after it, not held back by Nagle's
    /// algorithm. Otherwise both are sent together.
    bool finished_alone = false;
    /// Connections stay open after their last answer, until the run is ended: they are in flight
    /// as long as the server does not end them.
    bool hold = false;
    ending end = ending::fin;
    bench::timeouts timeouts;
    std::size_t workers = 0;                                     ///< 0: as many as CPUs.
    std::chrono::nanoseconds interval = std::chrono::seconds{1}; ///< Of the timeline.
    bool by_start = false; ///< A second timeline, with ends where transactions were to begin.
    std::size_t in_flight_max = 15'000; ///< Of one worker; each one more is a failure.
};

/// time_of_all_stages is how long a transaction may last: a WebSocket waits for two answers.
[[nodiscard]] std::chrono::milliseconds time_of_all_stages(load_spec const& spec) noexcept;

/// workers_of is how many workers a load has: at most one for each connection that is kept busy,
/// because a worker without a connection would never begin its share of the transactions.
[[nodiscard]] std::size_t workers_of(load_spec const& spec);

/// has_schedule: transactions begin when they are due, and not when others have ended.
[[nodiscard]] bool has_schedule(load_spec const& spec) noexcept;

/// schedule_length is how long transactions are due, from the end of the warm-up on: the duration,
/// or less where an open loop has begun its number of transactions before.
[[nodiscard]] std::chrono::nanoseconds schedule_length(load_spec const& spec);

/// rate_asked is the mean rate of a schedule in that time, in transactions per second. Unset: the
/// load has no schedule.
[[nodiscard]] std::optional<double> rate_asked(load_spec const& spec);

} // namespace cleat::bench
