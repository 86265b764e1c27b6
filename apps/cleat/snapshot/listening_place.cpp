#include "snapshot/frontend_sockets.hpp"
#include "snapshot/listening_place.hpp"

#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
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

// An opener that refuses a port has given the reason.
problem cannot_listen(
    frontend_plan const& plan, net::refused_address const& refused, std::string const& refusal = {})
{
    bool const is_refusal = !refusal.empty() && is_denied(refused.reason);
    std::string text = fmt::format(
        "cannot listen on {}: {}", net::to_string(refused.address), refused.reason.message());
    if (is_refusal)
        text.append(": ").append(refusal);
    return {
        problem::severity::error, plan.location, "frontend", std::move(text),
        is_refusal ? std::string{} : cure_for(refused.reason)};
}

std::string without_port(net::address address)
{
    // The port is at the same place in both families.
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
    return net::to_string(address);
}

problem not_served(std::string text, std::string cure)
{
    return {problem::severity::error, {"LISTEN_FDS"}, {}, std::move(text), std::move(cure)};
}

class binder
{
public:
    binder(
        snapshot const& configuration, std::size_t workers,
        std::span<listening_place const> running, opener const& root_ports,
        std::vector<passed_socket> passed)
        : configuration_{configuration}
        , running_{running}
        , is_kept_(running.size())
        , left_over_{std::move(passed)}
        , passed_{take_sockets(configuration.frontends, left_over_)}
    {
        all_.by_worker.resize(workers);
        if (root_ports.present_state() != opener::state::none)
            bind_denied_ = [this, &root_ports](int fd, net::address const& address) {
                file_opening const bound = root_ports.bind(fd, *address.data(), address.size);
                refusal_ = bound.refusal;
                return bound.reason;
            };
    }
    binder(binder&&) = delete;

    bound_sockets bind()
    {
        for (std::size_t number = 0; number < configuration_.frontends.size(); ++number)
            bind_frontend(number, configuration_.frontends[number]);
        for (passed_socket const& each : left_over_)
            all_.problems.push_back(not_served(
                fmt::format("no frontend listens on {}", spelled(each)),
                "Add the frontend, or take ListenStream= out of the socket unit."));
        refuse_abandoned();
        return std::move(all_);
    }

private:
    void bind_frontend(std::size_t number, frontend_plan const& plan)
    {
        if (keep_named(number, plan) || use_passed(number, plan))
            return;
        std::vector<net::address> left;
        std::unordered_set<std::string> seen;
        bool any_kept = false;
        for (net::address const& address : plan.addresses) {
            if (!seen.insert(net::to_string(address)).second || is_taken(number, address))
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
            keep_place(frontend, i);
            return true;
        }
        return false;
    }

    void keep_place(std::size_t frontend, std::size_t number)
    {
        listening_place const& running = running_[number];
        is_kept_[number] = true;
        all_.places.push_back({frontend, running.address, running.wanted, number, running.passed});
        for (std::vector<unique_fd>& sockets : all_.by_worker)
            sockets.emplace_back();
    }

    // Whether running sockets were passed for this frontend by name: it has these, and no others.
    bool keep_named(std::size_t frontend, frontend_plan const& plan)
    {
        bool any = false;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            if (is_kept_[i] || !running_[i].passed || running_[i].passed->named_for.empty() ||
                running_[i].passed->named_for != plan.name)
                continue;
            keep_place(frontend, i);
            any = true;
        }
        return any;
    }

    // Whether sockets were passed for this frontend by name.
    bool use_passed(std::size_t frontend, frontend_plan const& plan)
    {
        bool is_named = false;
        for (address_group const& each : passed_[frontend]) {
            use(frontend, plan, each);
            is_named = is_named || each.is_named;
        }
        return is_named;
    }

    void use(std::size_t frontend, frontend_plan const& plan, address_group const& group)
    {
        std::string const address = net::to_string(group.address);
        if (group.fds.size() > all_.by_worker.size())
            all_.problems.push_back(not_served(
                fmt::format(
                    "{} sockets are passed for {}, and there are {} workers", group.fds.size(),
                    address, all_.by_worker.size()),
                "Set workers to as many, or take out a ListenStream=."));
        error_code ec;
        for (unique_fd const& each : group.fds)
            if (!ec)
                ec = net::adopt_listening(each.get(), options_of(plan));
        for (std::size_t i = 0; i < all_.by_worker.size(); ++i) {
            int const shared = group.fds[i % group.fds.size()].get();
            unique_fd own{::fcntl(shared, F_DUPFD_CLOEXEC, 0)};
            if (!own && !ec)
                ec = last_system_error();
            all_.by_worker[i].push_back(std::move(own));
        }
        if (ec)
            all_.problems.push_back(cannot_listen(plan, {group.address, ec}));
        all_.places.push_back(
            {frontend, group.address, address, std::nullopt,
             passed_place{group.is_named ? plan.name : "", group.takes_ipv4}});
    }

    [[nodiscard]] net::listen_options options_of(frontend_plan const& plan) const
    {
        net::listen_options options = listen_options_of(configuration_, plan);
        options.bind_denied = bind_denied_;
        return options;
    }

    // Whether a passed socket takes the connections of this address already.
    [[nodiscard]] bool is_taken(std::size_t frontend, net::address const& address) const
    {
        return std::ranges::any_of(
                   passed_[frontend],
                   [&](address_group const& each) {
                       return net::to_string(each.address) == net::to_string(address) ||
                              (each.takes_ipv4 && is_covered(each.address, address));
                   }) ||
               std::ranges::any_of(running_, [&](listening_place const& each) {
                   return each.passed && each.passed->takes_ipv4 &&
                          is_covered(each.address, address);
               });
    }

    // The service manager has such a socket open: clients would wait in it for ever. It may be that
    // of a frontend whose addresses are not known, which is an error already.
    void refuse_abandoned()
    {
        auto const is_unknown = [](frontend_plan const& each) { return each.addresses.empty(); };
        if (std::ranges::any_of(configuration_.frontends, is_unknown))
            return;
        for (std::size_t i = 0; i < running_.size(); ++i)
            if (running_[i].passed && !is_kept_[i])
                all_.problems.push_back(not_served(
                    fmt::format(
                        "no frontend listens on {} any more, and the socket unit keeps it open",
                        net::to_string(running_[i].address)),
                    "Change the socket unit too, and restart both."));
    }

    // A name may have addresses of other machines: they do not matter where one is this machine's.
    void listen(
        std::size_t frontend, frontend_plan const& plan, std::vector<net::address> const& addresses,
        bool any_kept)
    {
        net::listening_attempt attempt =
            net::listen_on_each(addresses, options_of(plan), all_.by_worker.size());
        for (net::refused_address const& refused : attempt.refused)
            if (!any_kept || refused.reason != boost::system::errc::address_not_available)
                all_.problems.push_back(cannot_listen(plan, refused, refusal_));
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
    std::function<error_code(int fd, net::address const& address)> bind_denied_;
    std::string refusal_;                            // The opener's last one.
    std::vector<passed_socket> left_over_;           // No frontend's.
    std::vector<std::vector<address_group>> passed_; // By frontend.
    bound_sockets all_;
};

} // namespace

bound_sockets bind_all(
    snapshot const& configuration, std::size_t workers, std::span<listening_place const> running,
    opener const& root_ports, std::vector<passed_socket> passed)
{
    return binder{configuration, workers, running, root_ports, std::move(passed)}.bind();
}

void check_addresses(snapshot const& configuration, std::vector<problem>& problems)
{
    for (frontend_plan const& plan : configuration.frontends)
        for (net::refused_address const& refused : net::listen_nowhere(plan.addresses))
            problems.push_back(cannot_listen(plan, refused));
}

} // namespace cleat::app
