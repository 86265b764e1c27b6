// raw_client: asks one server with ClientHellos of any kind.

#pragma once

#include "probe/raw_visit.hpp"
#include "wire/client_hello.hpp"

#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleat::bench {

/// raw_client knows the server and counts the connections that it did not answer.
class raw_client
{
public:
    /// `name` is for SNI; empty: none is sent. `address` outlives it.
    raw_client(net::address const& address, std::string name, std::chrono::milliseconds timeout)
        : address_{address}, name_{std::move(name)}, timeout_{timeout}
    {
    }

    /// hello offers one version, these suites and these groups, and all signature schemes.
    [[nodiscard]] wire::client_hello hello(
        wire::version version, std::span<std::uint16_t const> suites,
        std::span<std::uint16_t const> groups) const;
    /// hello with all groups that the version knows.
    [[nodiscard]] wire::client_hello hello(
        wire::version version, std::span<std::uint16_t const> suites) const;

    /// ask sends a hello on a connection of its own. After the server has left some unanswered, it
    /// sends no more.
    [[nodiscard]] raw_answer ask(wire::client_hello const& hello, awaited end = awaited::hello);

    /// share_key makes hellos of TLS 1.3 that offer X25519 have a key share of it. Without, the
    /// server has to ask for one, which a few servers cannot.
    void share_key() noexcept { shares_key_ = true; }
    [[nodiscard]] bool shares_key() const noexcept { return shares_key_; }

    /// gave_up: ask sends no more.
    [[nodiscard]] bool gave_up() const noexcept { return unanswered_ >= unanswered_max; }
    [[nodiscard]] unsigned unanswered() const noexcept { return unanswered_; }

    [[nodiscard]] net::address const& address() const noexcept { return address_; }
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return timeout_; }

private:
    static constexpr unsigned unanswered_max = 3;

    net::address const& address_;
    std::string name_;
    std::chrono::milliseconds timeout_;
    unsigned unanswered_ = 0;
    bool shares_key_ = false;
};

/// all_groups are the numbers of the registered groups that a version knows.
[[nodiscard]] std::vector<std::uint16_t> all_groups(wire::version version);

/// all_suites are the numbers of the registered suites that a version knows.
[[nodiscard]] std::vector<std::uint16_t> all_suites(wire::version version);

} // namespace cleat::bench
