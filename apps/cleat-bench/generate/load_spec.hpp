// load_spec: everything that a load is made of, as plain values with every default stated.

#pragma once

#include "generate/pacer.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context_spec.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace cleat::bench {

/// weighted_name is a name for SNI and how often it is used, relative to the others.
struct weighted_name
{
    std::string name;
    unsigned weight = 1;
};

/// closed keeps so many connections busy: the next transaction begins when one has ended, so a slow
/// server is asked less.
struct closed
{
    unsigned connections = 10;
};

/// open begins transactions when they are due, whatever the server does: what users do.
struct open
{
    std::vector<phase> phases;
    arrivals how = arrivals::constant;
    std::uint64_t seed = 1;
};

/// kept opens so many connections and keeps them: each sends a request at a random moment of every
/// stretch of `every`, whatever the server does. Response counts from that moment, so a request
/// that waits for the answer before it counts its wait.
struct kept
{
    unsigned connections = 10;
    std::chrono::nanoseconds every = std::chrono::milliseconds{200};
    std::uint64_t seed = 1;
};

/// exchange is what is said on a connection.
struct exchange
{
    std::string request;       ///< Sent as it is.
    bool http = true;          ///< The answer is HTTP/1.x; otherwise bytes.
    bool head = false;         ///< The request is HEAD.
    bool until_head = false;   ///< An HTTP answer is over with a head that tells its size.
    unsigned requests = 1;     ///< On one connection, one after the other; each is a transaction.
    std::optional<int> status; ///< Wanted of an HTTP answer; unset: 200 to 399.
    std::optional<std::uint64_t> size; ///< Wanted of the body, or of an answer of bytes, which ends
                                       ///< there; unset: any, and bytes end with the connection.
};

/// reuse is how sessions are resumed.
struct reuse
{
    /// Each session serves so many connections: its full handshake and the rest resumed. 1: none.
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

/// client_defaults: what a client offers that was told nothing. It verifies no certificate: that is
/// the client's work, and would be measured with the server's.
[[nodiscard]] inline tls::context_spec client_defaults()
{
    tls::context_spec spec;
    spec.role = tls::role::client;
    return spec;
}

struct load_spec
{
    std::string target; ///< As it was written, for reports.
    std::string port;   ///< As the request's Host has it.
    std::string path;   ///< Of the request.
    net::address to;
    std::vector<net::address> from; ///< Source addresses, used in turn; empty: the kernel's choice.
    tls::context_spec tls = client_defaults();
    std::vector<weighted_name> names; ///< Empty: tls.server_name alone.
    exchange say;
    std::variant<closed, open, kept> arrive;
    std::chrono::nanoseconds duration = std::chrono::seconds{10};
    std::chrono::nanoseconds warm_up{};        ///< What begins in it is done, and not counted.
    std::optional<std::uint64_t> transactions; ///< Ends the load too.
    bench::reuse reuse;
    bool early_data = false; ///< The first request is 0-RTT data, where a session allows it.
    /// The Finished leaves by itself, and the request right behind it, not held back by Nagle's
    /// algorithm; otherwise both leave together.
    bool finished_alone = false;
    bool hold = false; ///< Connections stay open after their last answer, until the run is ended.
    ending end = ending::fin;
    bench::timeouts timeouts;
    std::size_t workers = 0;                                     ///< 0: as many as CPUs.
    std::chrono::nanoseconds interval = std::chrono::seconds{1}; ///< Of the timeline.
    bool by_start = false; ///< A second timeline, with ends where transactions were to begin.
    std::size_t in_flight_max = 15'000; ///< Of one worker: what would be more is a failure.
};

/// workers_of is how many workers it has: one without a connection to keep busy would take its
/// share of the transactions and do nothing about them.
[[nodiscard]] std::size_t workers_of(load_spec const& use);

/// has_schedule: transactions begin when they are due, and not when others have ended.
[[nodiscard]] bool has_schedule(load_spec const& use) noexcept;

/// time_of_beginnings is how long transactions are meant to begin, from the warm-up's end on: the
/// duration, unless an open loop's number of them is used up before.
[[nodiscard]] std::chrono::nanoseconds time_of_beginnings(load_spec const& use);

/// rate_asked is the mean of a schedule in that time, in transactions for each second.
[[nodiscard]] double rate_asked(load_spec const& use);

} // namespace cleat::bench
