// load: what a run of the study does, and what it found.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace study {

/// load is the traffic of a run, the same in every arm.
struct load
{
    std::string pem; ///< File with the server's certificate and its key.
    std::size_t threads = 1;
    std::size_t connections = 1;
    std::uint64_t messages = 0;   ///< Of each connection.
    std::size_t size = 0;         ///< Bytes of a message.
    std::uint64_t handshakes = 0; ///< Of all connections, in place of messages; 0: messages.
};

/// seen is what the server has verified. A connection adds to it once, at its end: a counter for
/// each message would be a shared cache line in the very place that is looked at.
struct seen
{
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> connections{0};
};

/// span is the time that a phase took, on the wall and on all cores.
struct span
{
    double seconds = 0;
    double cpu_seconds = 0;
};

/// figures are what a run gives.
struct figures
{
    span handshakes;
    span messages; ///< All zero where handshakes were asked for.
    std::uint64_t handshakes_verified = 0;
    std::uint64_t messages_verified = 0;
};

// The arms, each in a file of its own. They throw what is wrong with their settings; a connection
// that fails later ends the program.
figures run_naive(load const& what);
figures run_per_core(load const& what);
figures run_cleat(load const& what);

} // namespace study
