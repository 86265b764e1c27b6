#include "listening_place.hpp"

#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cleat::app {
namespace {

std::string cure_for(error_code ec)
{
    if (ec == boost::system::errc::address_in_use)
        return "Another program, or another frontend, listens there: stop it, or choose another "
               "port.";
    if (ec == boost::system::errc::permission_denied)
        return "Ports below 1024 are root's: start as root with a user to change to.";
    if (ec == boost::system::errc::address_not_available)
        return "This machine has no such address: see `ip addr`.";
    if (ec == boost::system::errc::address_family_not_supported)
        return "This kernel has no such addresses: use IPv4.";
    return {};
}

problem cannot_listen(frontend_plan const& plan, net::refused_address const& refused)
{
    return {
        problem::severity::error, plan.location, "frontend",
        fmt::format(
            "cannot listen on {}: {}", net::to_string(refused.address), refused.reason.message()),
        cure_for(refused.reason)};
}

} // namespace

bound_sockets bind_all(snapshot const& configuration, std::size_t workers)
{
    bound_sockets all;
    all.by_worker.resize(workers);
    for (std::size_t number = 0; number < configuration.frontends.size(); ++number) {
        frontend_plan const& plan = configuration.frontends[number];
        net::listening_attempt attempt =
            net::listen_on_each(plan.addresses, configuration.listen_options, workers);
        for (net::refused_address const& refused : attempt.refused)
            all.problems.push_back(cannot_listen(plan, refused));
        for (net::address const& address : attempt.opened.addresses)
            all.places.push_back({.frontend = number, .address = address});
        for (std::size_t i = 0; i < workers; ++i)
            std::ranges::move(attempt.opened.sockets[i], std::back_inserter(all.by_worker[i]));
    }
    return all;
}

void check_addresses(snapshot const& configuration, std::vector<problem>& problems)
{
    for (frontend_plan const& plan : configuration.frontends)
        for (net::refused_address const& refused : net::listen_nowhere(plan.addresses))
            problems.push_back(cannot_listen(plan, refused));
}

} // namespace cleat::app
