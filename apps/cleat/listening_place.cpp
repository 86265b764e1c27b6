#include "listening_place.hpp"

#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <netinet/in.h>

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

std::string without_port(net::address address)
{
    // The port is at the same place in both families.
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
    return net::to_string(address);
}

class binder
{
public:
    binder(
        snapshot const& configuration, std::size_t workers,
        std::span<listening_place const> running)
        : configuration_{configuration}, running_{running}, is_kept_(running.size())
    {
        all_.by_worker.resize(workers);
    }

    bound_sockets bind()
    {
        for (std::size_t number = 0; number < configuration_.frontends.size(); ++number)
            bind_frontend(number, configuration_.frontends[number]);
        return std::move(all_);
    }

private:
    void bind_frontend(std::size_t number, frontend_plan const& plan)
    {
        std::vector<net::address> left;
        std::unordered_set<std::string> seen;
        bool any_kept = false;
        for (net::address const& address : plan.addresses) {
            if (!seen.insert(net::to_string(address)).second)
                continue;
            bool const kept = keep(number, address);
            any_kept = any_kept || kept;
            if (!kept)
                left.push_back(address);
        }
        if (!left.empty())
            listen(number, plan, left, any_kept);
    }

    // Whether a place of the running configuration has the address.
    bool keep(std::size_t frontend, net::address const& address)
    {
        std::string const wanted = net::to_string(address);
        for (std::size_t i = 0; i < running_.size(); ++i) {
            if (is_kept_[i] || running_[i].wanted != wanted)
                continue;
            is_kept_[i] = true;
            all_.places.push_back({frontend, running_[i].address, wanted, i});
            for (std::vector<unique_fd>& sockets : all_.by_worker)
                sockets.emplace_back();
            return true;
        }
        return false;
    }

    // A name may have addresses of other machines: they do not matter where one is this machine's.
    void listen(
        std::size_t frontend, frontend_plan const& plan, std::vector<net::address> const& addresses,
        bool any_kept)
    {
        net::listening_attempt attempt =
            net::listen_on_each(addresses, configuration_.listen_options, all_.by_worker.size());
        for (net::refused_address const& refused : attempt.refused)
            if (!any_kept || refused.reason != boost::system::errc::address_not_available)
                all_.problems.push_back(cannot_listen(plan, refused));
        bool const port_chosen = addresses.front().port() == 0;
        for (net::address const& address : attempt.opened.addresses)
            all_.places.push_back(
                {frontend, address, port_chosen ? without_port(address) : net::to_string(address)});
        for (std::size_t i = 0; i < all_.by_worker.size(); ++i)
            std::ranges::move(attempt.opened.sockets[i], std::back_inserter(all_.by_worker[i]));
    }

    snapshot const& configuration_;
    std::span<listening_place const> running_;
    std::vector<bool> is_kept_; // By the number of the running place.
    bound_sockets all_;
};

} // namespace

bound_sockets bind_all(
    snapshot const& configuration, std::size_t workers, std::span<listening_place const> running)
{
    return binder{configuration, workers, running}.bind();
}

void check_addresses(snapshot const& configuration, std::vector<problem>& problems)
{
    for (frontend_plan const& plan : configuration.frontends)
        for (net::refused_address const& refused : net::listen_nowhere(plan.addresses))
            problems.push_back(cannot_listen(plan, refused));
}

} // namespace cleat::app
