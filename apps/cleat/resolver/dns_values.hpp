// dns_values: what is looked up, and what was found.

#pragma once

#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace cleat::app {

/// dns_question is a name whose addresses are wanted.
struct dns_question
{
    enum class kind
    {
        host,    ///< Addresses (A, AAAA), for `port`.
        service, ///< Targets (SRV), which have ports of their own, and their addresses.
    };

    std::string name;
    std::uint16_t port = 0; ///< Of a host.
    kind what = kind::host;

    friend bool operator==(dns_question const&, dns_question const&) = default;
};

/// dns_target is one server: the host itself, or a target of a service.
struct dns_target
{
    std::string name;                    ///< "web-1.example:8080"; of a host it is empty.
    std::vector<net::address> addresses; ///< To be tried in their order.
    unsigned weight = 1;                 ///< From 1 on.
    bool is_backup = false;              ///< Other targets come first (SRV's priority).
};

/// dns_answer is the result of a lookup.
struct dns_answer
{
    std::vector<dns_target> targets;
    std::chrono::seconds ttl{0};
    bool is_from_file = false; ///< /etc/hosts has no TTL.
    std::string failure{};     ///< Why something was not found. With targets: only a part was.
};

/// dns_settings are the DNS servers that are asked.
struct dns_settings
{
    std::vector<std::string> servers{}; ///< "192.0.2.1:53"; empty: those of /etc/resolv.conf.

    friend bool operator==(dns_settings const&, dns_settings const&) = default;
};

/// is_name: the host is to be looked up. Numbers are not, and localhost always is this machine.
[[nodiscard]] bool is_name(std::string const& host) noexcept;

/// has_same_addresses compares in any order, because servers of DNS rotate their answers, and
/// however often each is there.
[[nodiscard]] bool has_same_addresses(
    std::vector<net::address> const& one, std::vector<net::address> const& other);

/// have_same_targets compares them in any order.
[[nodiscard]] bool have_same_targets(
    std::vector<dns_target> const& one, std::vector<dns_target> const& other);

} // namespace cleat::app
