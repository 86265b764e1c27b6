// upstream_tls: what one worker needs to speak TLS to the servers of an upstream.

#pragma once

#include "config/config.hpp"

#include <cleat/net/channel.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/server_sessions.hpp>
#include <cleat/tls/session.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace cleat::app {

/// upstream_tls_plan is how TLS is spoken to the servers of an upstream. The names of servers are
/// in their own plans.
struct upstream_tls_plan
{
    tls::context_spec spec{};       ///< Of a client, without a server_name.
    tls::file_digest certificate{}; ///< Of the text of its certificate and key; zeros: none.
    bool offers_clients_protocol = false;
    proxy_place proxy_header = proxy_place::before_tls;
};

/// upstream_tls belongs to one worker and one configuration. The plan and the context outlive it,
/// and it outlives the connections.
class upstream_tls
{
public:
    upstream_tls(upstream_tls_plan const& plan, tls::context const& context, std::size_t servers)
        : plan_{plan}, context_{context}, sessions_(servers)
    {
    }
    upstream_tls(upstream_tls&&) = delete;

    [[nodiscard]] upstream_tls_plan const& plan() const noexcept { return plan_; }
    [[nodiscard]] tls::context const& context() const noexcept { return context_; }

    /// sessions are those of a server, by its number.
    [[nodiscard]] tls::server_sessions& sessions(std::size_t server) noexcept
    {
        return sessions_[server];
    }

private:
    upstream_tls_plan const& plan_;
    tls::context const& context_;
    std::deque<tls::server_sessions> sessions_;
};

/// new_channel makes a channel to a server: with its name, a session of it to resume, if there is
/// one, and the client's protocol where the plan has it so. Throws std::bad_alloc.
[[nodiscard]] net::channel new_channel(
    upstream_tls const& tls, std::string const& name, std::string_view client_protocol,
    tls::session const& offered);

} // namespace cleat::app
