// scenario: the load that a comparison puts on every server, read from a small file.

#pragma once

#include "generate/pacer.hpp"
#include "result/metric.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// background_load is what other clients do meanwhile, as fast as the server lets them.
enum class background_load : std::uint8_t
{
    none,
    handshakes, ///< Full handshakes, each with a small response.
    downloads   ///< Messages of `bytes`, again and again on the same connections.
};

/// arrival_rate is how often clients begin in an open loop.
struct arrival_rate
{
    double value = 0;        ///< Per second; or the part, up to 1, of a capacity.
    bool of_weakest = false; ///< Of the capacity of the weakest server, which is measured first.
};

/// scenario_spec is the content of such a file; scenarios/README.md explains its keys. The defaults
/// are those of a file without the key.
struct scenario_spec
{
    std::string name;  ///< The file's, without folder and extension.
    std::string text;  ///< The file's content, for results.
    std::string title; ///< For tables.

    activity kind = activity::handshake;
    std::string key = "ecdsa-p256";
    std::string tls = "1.3";
    std::string groups = "X25519";
    std::string ciphers;      ///< TLS 1.2; empty: AES-128-GCM, which every server has.
    std::string ciphersuites; ///< TLS 1.3; empty: TLS_AES_128_GCM_SHA256.
    unsigned connections = 16;

    /// transfer_down, established: HTTP/2, and so many streams on each connection; 0: HTTP/1.1.
    unsigned streams = 0;

    // handshake; without the rate also system_calls and workers
    std::uint64_t answer = 1024;
    unsigned reuse = 1;
    bool session_ids = false;
    bool finished_alone = false;      ///< As load_spec::finished_alone.
    std::optional<arrival_rate> rate; ///< Open loop; unset: closed loop.
    bench::arrivals arrivals = bench::arrivals::poisson;

    // established
    std::chrono::milliseconds every{200}; ///< Between two requests of a connection, on average.
    std::chrono::milliseconds duration{10'000};
    background_load beside = background_load::none;
    unsigned beside_connections = 0;

    /// The cores that the server's processes may use together: 0.3; unset: no limit.
    std::optional<double> server_cpu;

    // transfer_down, transfer_up; bytes also for established beside downloads
    std::uint64_t bytes = 0;    ///< Of a message.
    std::uint64_t messages = 0; ///< In all.

    /// Of a scenario of handshakes, in all; and those before the count begins.
    std::uint64_t transactions = 3000;
    std::uint64_t warm_up = 200;
};

/// name_of a background_load is its word in a scenario's file.
[[nodiscard]] std::string_view name_of(background_load what) noexcept;

/// moves_bytes: its rate is in bytes, and its operation a GB.
[[nodiscard]] bool moves_bytes(scenario_spec const& scenario) noexcept;

/// parse_scenario reads a file's text. Throws std::runtime_error that names origin, line and cure.
[[nodiscard]] scenario_spec parse_scenario(std::string const& text, std::string const& origin);

/// operation_name is the unit that costs are counted for: "handshake", "transaction", "request" or
/// "GB"; of `established`, that of the load beside it.
[[nodiscard]] std::string_view operation_name(scenario_spec const& scenario) noexcept;

} // namespace cleat::bench
