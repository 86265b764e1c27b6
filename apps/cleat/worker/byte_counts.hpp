// byte_counts: how many plaintext bytes a connection has moved.

#pragma once

#include "worker/worker_connections.hpp"

#include <cleat/net/worker.hpp>

#include <cstdint>

namespace cleat::app {

/// byte_counts counts the plaintext bytes of a connection, and adds them to its worker's.
struct byte_counts
{
    std::uint64_t up = 0;                        ///< From the client to the upstream.
    std::uint64_t down = 0;                      ///< From the upstream to the client.
    worker_connections* published = nullptr;     ///< Null: only this object counts them.
    net::worker::clock::time_point begun{};      ///< When the connection was accepted.
    net::worker::clock::time_point first_down{}; ///< When its first byte came; unset: none came.

    void add_up(std::uint64_t bytes) noexcept
    {
        up += bytes;
        if (published != nullptr)
            published->counts().traffic.add(traffic_count::bytes_up, bytes);
    }

    void add_down(std::uint64_t bytes) noexcept
    {
        if (published != nullptr) {
            if (down == 0) {
                first_down = published->worker().now();
                published->counts().until_first_byte.record(first_down - begun);
            }
            published->counts().traffic.add(traffic_count::bytes_down, bytes);
        }
        down += bytes;
    }
};

} // namespace cleat::app
