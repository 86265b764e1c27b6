#include "counts/shed_networks.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat::app {

void shed_networks::add(std::span<std::uint8_t const> address) noexcept
{
    if (address.empty())
        return;
    client_prefix const network = prefix_of(address, lengths);
    auto const end = places_.begin() + static_cast<std::ptrdiff_t>(used_);
    auto found = std::ranges::find(places_.begin(), end, network, &shed_network::network);
    if (found == end && used_ != places_.size()) {
        ++used_;
        *found = {.network = network};
    } else if (found == end) {
        found = std::ranges::min_element(places_, {}, &shed_network::count);
        *found = {.network = network, .count = found->count, .excess = found->count};
    }
    ++found->count;
    published_[static_cast<std::size_t>(found - places_.begin())].write(*found);
}

std::vector<shed_network> shed_networks::read() const
{
    std::vector<shed_network> all;
    for (published_value<shed_network> const& each : published_)
        if (std::optional<shed_network> const found = each.read())
            all.push_back(*found);
    return all;
}

std::vector<shed_network> most_shed(std::span<shed_network const> of_all_workers, std::size_t most)
{
    std::map<client_prefix, shed_network> by_network;
    for (shed_network const& each : of_all_workers) {
        shed_network& sum = by_network[each.network];
        sum.network = each.network;
        sum.count += each.count;
        sum.excess += each.excess;
    }
    std::vector<shed_network> all;
    for (auto const& [network, sum] : by_network)
        all.push_back(sum);
    std::ranges::stable_sort(all, std::ranges::greater{}, &shed_network::count);
    all.resize(std::min(all.size(), most));
    return all;
}

std::string network_text(client_prefix const& network)
{
    in6_addr address{};
    std::ranges::copy(network, std::begin(address.s6_addr));
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (IN6_IS_ADDR_V4MAPPED(&address) != 0) {
        ::inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
        return std::string{text.data()} + "/" + std::to_string(shed_networks::lengths.ipv4);
    }
    ::inet_ntop(AF_INET6, &address, text.data(), text.size());
    return std::string{text.data()} + "/" + std::to_string(shed_networks::lengths.ipv6);
}

} // namespace cleat::app
