#include "snapshot/frontend_sockets.hpp"

#include <algorithm>
#include <utility>

#include <netinet/in.h>

namespace cleat::app {
namespace {

bool has_address(frontend_plan const& plan, net::address const& address)
{
    return std::ranges::any_of(plan.addresses, [&](net::address const& each) {
        return net::to_string(each) == net::to_string(address);
    });
}

void add(std::vector<address_group>& groups, passed_socket socket, bool named)
{
    auto same = std::ranges::find_if(groups, [&](address_group const& each) {
        return net::to_string(each.address) == net::to_string(socket.address);
    });
    if (same == groups.end())
        same = groups.insert(groups.end(), {socket.address, named, socket.takes_ipv4, {}});
    same->fds.push_back(std::move(socket.fd));
}

} // namespace

std::string descriptor_name(std::string const& frontend)
{
    std::size_t const colon = frontend.rfind(':');
    if (colon == std::string::npos)
        return {};
    std::string host = frontend.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    return host + ',' + frontend.substr(colon + 1);
}

bool is_named(passed_socket const& socket, frontend_plan const& plan)
{
    return !socket.name.empty() && socket.name == descriptor_name(plan.name);
}

bool is_covered(net::address const& covering, net::address const& address)
{
    return address.family() == AF_INET && address.port() == covering.port() &&
           net::to_string(address).starts_with("0.0.0.0:");
}

std::vector<std::vector<address_group>> take_sockets(
    std::span<frontend_plan const> frontends, std::vector<passed_socket>& passed)
{
    std::vector<std::vector<address_group>> found(frontends.size());
    std::vector<passed_socket> left;
    for (passed_socket& each : passed) {
        auto owner = std::ranges::find_if(
            frontends, [&](frontend_plan const& plan) { return is_named(each, plan); });
        bool const named = owner != frontends.end();
        if (!named)
            owner = std::ranges::find_if(frontends, [&](frontend_plan const& plan) {
                return has_address(plan, each.address);
            });
        if (owner == frontends.end())
            left.push_back(std::move(each));
        else
            add(found[static_cast<std::size_t>(owner - frontends.begin())], std::move(each), named);
    }
    passed = std::move(left);
    return found;
}

} // namespace cleat::app
