// offers: which versions, cipher suites and groups a server accepts, of all that are registered. It
// is found by elimination: the client offers all, and then all but those that the server has
// chosen.

#pragma once

#include "probe/probe_report.hpp"
#include "probe/raw_client.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cleat::bench {

using suite_numbers = std::vector<std::uint16_t>;
using group_numbers = std::vector<std::uint16_t>;

/// accepted_version is a version with the suites that the server accepts in it.
struct accepted_version
{
    wire::version version = wire::version::tls_1_2;
    suite_numbers suites;
};

/// accepted_versions is the latest first.
using accepted_versions = std::vector<accepted_version>;

/// suites_of a version; empty if the server does not accept it.
[[nodiscard]] std::span<std::uint16_t const> suites_of(
    accepted_versions const& versions, wire::version version) noexcept;

/// accepted_suites is empty if the server does not accept the version. The order is that of the
/// server's choices.
[[nodiscard]] suite_numbers accepted_suites(raw_client& client, wire::version version);

/// order_of finds out whose order of suites decides.
[[nodiscard]] chooser order_of(
    raw_client& client, wire::version version, std::span<std::uint16_t const> accepted);

/// accepted_groups finds the groups of key exchange; in TLS 1.2 and before with the accepted
/// suites.
[[nodiscard]] group_numbers accepted_groups(
    raw_client& client, wire::version version, std::span<std::uint16_t const> accepted);

/// suites_with picks the suites that have a trait.
[[nodiscard]] suite_numbers suites_with(
    std::span<std::uint16_t const> suites, bool wire::suite_traits::*trait);

} // namespace cleat::bench
