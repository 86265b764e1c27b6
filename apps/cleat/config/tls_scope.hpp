// tls_scope: a frontend, or a route with settings of TLS, as its clients see it.

#pragma once

#include "config/config.hpp"

#include <type_traits>
#include <vector>

namespace cleat::app {

/// tls_scope has the settings of TLS that a frontend or a route sets, without copies of them: a
/// frontend with thousands of certificates may have thousands of routes. The settings outlive it.
class tls_scope
{
public:
    // A frontend is a scope. NOLINTNEXTLINE(google-explicit-constructor)
    tls_scope(frontend_config const& frontend) noexcept : frontend_{&frontend} {}
    /// The route's settings take the place of the frontend's.
    tls_scope(frontend_config const& frontend, route_config const& route) noexcept
        : frontend_{&frontend}, route_{route.settings == nullptr ? nullptr : &route}
    {
    }

    [[nodiscard]] frontend_config const& frontend() const noexcept { return *frontend_; }

    /// place is where the route is written, or else the frontend.
    [[nodiscard]] location const& place() const noexcept
    {
        return route_ == nullptr ? frontend_->location : route_->location;
    }

    /// own is a setting of the route, or else of the frontend. Where it is empty, the global one
    /// holds.
    template <class T>
    [[nodiscard]] optional_setting<T> const& own(
        optional_setting<T> frontend_config::*member) const noexcept
    {
        bool is_of_route = route_ != nullptr && (settings().*member).has_value();
        if constexpr (std::is_same_v<T, std::string>)
            is_of_route |= member == &frontend_config::client_allow_file && has_rules_of_route();
        return is_of_route ? settings().*member : frontend_->*member;
    }

    /// pem_files are its own: those of the route alone, where it has some.
    [[nodiscard]] std::vector<pem_file> const& pem_files() const noexcept
    {
        return has_certificates_of_route() ? settings().pem_files : frontend_->pem_files;
    }

    /// certificate_rules are its blocks of client-allow. A route replaces blocks and file together.
    [[nodiscard]] std::vector<allow_config> const& certificate_rules() const noexcept
    {
        return has_rules_of_route() ? settings().certificate_rules : frontend_->certificate_rules;
    }

    /// uses_global_certs is true where the global certificates serve here too.
    [[nodiscard]] bool uses_global_certs() const noexcept
    {
        return !has_certificates_of_route() && frontend_->uses_global_certs();
    }

private:
    [[nodiscard]] frontend_config const& settings() const noexcept { return route_->settings->own; }
    [[nodiscard]] bool has_certificates_of_route() const noexcept
    {
        return route_ != nullptr && !settings().pem_files.empty();
    }
    [[nodiscard]] bool has_rules_of_route() const noexcept
    {
        return route_ != nullptr &&
               (!settings().certificate_rules.empty() || settings().client_allow_file);
    }

    frontend_config const* frontend_;
    route_config const* route_ = nullptr; // With settings; null: it is the frontend.
};

/// tls_scopes_of are the frontends, and behind them the routes that have settings of TLS, in the
/// order of the frontends and of their routes.
[[nodiscard]] std::vector<tls_scope> tls_scopes_of(config const& settings);

/// asks_clients: the scope, or one of its certificates, asks clients for a certificate.
[[nodiscard]] bool asks_clients(config const& settings, tls_scope const& scope);

} // namespace cleat::app
