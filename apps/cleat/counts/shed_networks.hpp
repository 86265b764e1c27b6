// shed_networks: the networks of the clients whose handshakes a worker has shed most.

#pragma once

#include "failures/published_value.hpp"
#include "limits/client_prefix.hpp"

#include <cleat/core/limits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// shed_network is a network, with how many handshakes of its clients were shed: `count` at most,
/// and `count - excess` at least.
struct shed_network
{
    client_prefix network{};
    std::uint64_t count = 0;
    std::uint64_t excess = 0;
};

/// shed_networks counts by network in bounded memory. When all places are taken, a new network gets
/// the place with the lowest count, and goes on from that count (the "space-saving" algorithm of
/// Metwally, Agrawal and El Abbadi, 2005). So each network with more than one part in
/// limits::shed_networks_max of all that were shed has a place. The worker that owns it is the only
/// writer; any thread may read.
class shed_networks
{
public:
    /// lengths are those of a network that one attacker mostly has.
    static constexpr prefix_lengths lengths{.ipv4 = 24, .ipv6 = 64};

    shed_networks() noexcept = default;
    shed_networks(shed_networks&&) = delete;
    ~shed_networks() = default;

    /// add counts a client, by the 4 or 16 bytes of its address. One without an IP address has no
    /// network. Owner only.
    void add(std::span<std::uint8_t const> address) noexcept;

    /// read is what has a place, in no order. Throws std::bad_alloc. Any thread.
    [[nodiscard]] std::vector<shed_network> read() const;

private:
    std::array<shed_network, limits::shed_networks_max> places_{}; // The owner's.
    std::size_t used_ = 0;
    std::array<published_value<shed_network>, limits::shed_networks_max> published_{};
};

/// most_shed is the networks of several workers, added up, those with the highest counts first, and
/// `most` at most. Throws std::bad_alloc.
[[nodiscard]] std::vector<shed_network> most_shed(
    std::span<shed_network const> of_all_workers, std::size_t most);

/// network_text is "192.0.2.0/24" or "2001:db8::/64". Throws std::bad_alloc.
[[nodiscard]] std::string network_text(client_prefix const& network);

} // namespace cleat::app
