#include "worker_group.hpp"

#include <cleat/core/cpu_topology.hpp>
#include <cleat/net/listening.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

problem cannot_listen(listener_plan const& plan, net::refused_address const& its)
{
    return {
        problem::severity::error, plan.origin, "frontend",
        fmt::format("cannot listen on {}: {}", net::to_string(its.address), its.reason.message()),
        cure_for(its.reason)};
}

unique_fd new_eventfd()
{
    unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "eventfd"};
    return fd;
}

} // namespace

bound bind_all(snapshot const& use, std::size_t workers)
{
    bound all;
    all.by_worker.resize(workers);
    for (listener_plan const& plan : use.listeners) {
        net::listening_attempt its =
            net::listen_on_each(plan.addresses, use.listen_options, workers);
        for (net::refused_address const& each : its.refused)
            all.problems.push_back(cannot_listen(plan, each));
        for (net::address const& each : its.opened.addresses)
            all.addresses.push_back(net::to_string(each));
        for (std::size_t i = 0; i < workers; ++i)
            for (unique_fd& socket : its.opened.sockets[i])
                all.by_worker[i].push_back({std::move(socket), &plan});
    }
    return all;
}

void foresee_binding(snapshot const& use, std::vector<problem>& problems)
{
    for (listener_plan const& plan : use.listeners)
        for (net::refused_address const& each : net::listen_nowhere(plan.addresses))
            problems.push_back(cannot_listen(plan, each));
}

worker_group::worker_group(snapshot const& use, bound sockets, logger log)
    : use_{use}
    , sockets_{std::move(sockets)}
    , log_{log}
    , ended_{new_eventfd()}
    , services_(sockets_.by_worker.size())
    , pool_{pool_spec()}
{
}

net::worker_pool_spec worker_group::pool_spec()
{
    std::size_t const count = services_.size();
    result<cpu_topology> const machine = read_cpu_topology();
    return {
        .workers = count,
        .pin = machine && count == machine->cpus.size(),
        .begin = [this](net::worker& on) { begin(on); },
        .end = [this](net::worker& on) { end(on); }};
}

worker_group::~worker_group()
{
    interrupt();
    while (running() != 0) {
        pollfd ended{ended_.get(), POLLIN, 0};
        static_cast<void>(::poll(&ended, 1, -1));
        take_ended();
    }
}

void worker_group::begin(net::worker& on)
{
    std::size_t const number = on.number();
    ::pthread_setname_np(::pthread_self(), fmt::format("worker-{}", number).c_str());
    services_[number] = std::make_unique<worker_service>(
        on, use_, std::move(sockets_.by_worker[number]), log_.for_worker(static_cast<int>(number)));
    services_[number]->start();
    ++running_;
}

void worker_group::end(net::worker& on) noexcept
{
    std::unique_ptr<worker_service> const ended = std::move(services_[on.number()]);
    for (std::size_t i = 0; i < close_reason_count; ++i)
        closed_.at(i) += ended->closed().value(static_cast<close_reason>(i));
    --running_;
    std::uint64_t const one = 1;
    static_cast<void>(!::write(ended_.get(), &one, sizeof one));
}

void worker_group::drain()
{
    pool_.broadcast([this](net::worker& on) { services_[on.number()]->drain(); });
}

void worker_group::interrupt()
{
    pool_.broadcast([this](net::worker& on) {
        services_[on.number()]->drain();
        on.interrupt_all();
        on.stop();
    });
}

void worker_group::take_ended() noexcept
{
    std::uint64_t count = 0;
    static_cast<void>(!::read(ended_.get(), &count, sizeof count));
}

} // namespace cleat::app
