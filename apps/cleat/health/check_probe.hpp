// check_probe: one check of a server, from connect() to its result.

#pragma once

#include "health/check_context.hpp"
#include "health/check_talk.hpp"
#include "upstream/check_rule.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/socket_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

namespace cleat::app {

/// check_target is a server to be checked.
struct check_target
{
    std::string upstream; ///< Its name.
    std::string server;   ///< As the configuration spells its address.
    std::vector<net::address> addresses;
    check_rule rule;
    std::string tls_name{}; ///< The name of its certificate, with TLS.
    bool is_down = false;   ///< The server's known state so far.
    bool is_known = false;  ///< A check has found that.

    /// is_same_check compares all but what is known so far.
    [[nodiscard]] bool is_same_check(check_target const& other) const noexcept;
};

/// check_probe tries the addresses of a target in their order: the server passes with the first
/// one that does. It never waits: its owner polls, and calls it again. It can be used again after a
/// result. The target, and its context where it speaks TLS, outlive it.
class check_probe
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    enum class progress : std::uint8_t
    {
        waits, ///< For wanted(), or until deadline().
        passed,
        failed, ///< reason() says why.
    };

    explicit check_probe(check_target const& target, check_context* context = nullptr) noexcept
        : target_{target}, context_{context}
    {
    }

    [[nodiscard]] progress begin(time_point now);

    /// go_on after wanted() is ready, or deadline() has passed.
    [[nodiscard]] progress go_on(time_point now);
    [[nodiscard]] pollfd wanted() const noexcept;
    [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

    /// reason is why the last address has failed: "connection refused".
    [[nodiscard]] std::string const& reason() const noexcept { return reason_; }

private:
    [[nodiscard]] progress try_addresses(time_point now);
    [[nodiscard]] progress connect(time_point now);
    [[nodiscard]] progress find_connection();
    [[nodiscard]] progress connected();
    [[nodiscard]] progress talk();
    [[nodiscard]] progress late();
    [[nodiscard]] bool send(error_code& failed);
    [[nodiscard]] progress receive();
    [[nodiscard]] progress pass() noexcept;
    [[nodiscard]] progress fail(std::string reason);
    [[nodiscard]] progress fail(error_code why);

    check_target const& target_;
    check_context* context_;
    std::size_t address_ = 0; // The number of the one that is tried.
    unique_fd socket_;
    std::optional<check_talk> talk_; // Once it is connected.
    time_point deadline_{};
    std::string reason_;
};

} // namespace cleat::app
