#include "accept.hpp"
#include "worker_group.hpp"
#include "worker_service.hpp"

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

problem cannot_listen(frontend_plan const& plan, net::refused_address const& refused)
{
    return {
        problem::severity::error, plan.location, "frontend",
        fmt::format(
            "cannot listen on {}: {}", net::to_string(refused.address), refused.reason.message()),
        cure_for(refused.reason)};
}

unique_fd new_eventfd()
{
    unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "eventfd"};
    return fd;
}

} // namespace

// One worker's part, made and destroyed on its thread.
struct worker_group::serving
{
    serving(
        net::worker& worker, snapshot const& configuration, logger log,
        tls::certificate_supply* supply, std::vector<bound_socket> sockets)
        : service{worker, configuration, log, supply}
        , accepting{service, with_certificates(service, std::move(sockets))}
    {
    }

    static std::vector<bound_socket> with_certificates(
        worker_service& service, std::vector<bound_socket> sockets)
    {
        if (service.certificates() != nullptr)
            for (bound_socket& each : sockets)
                each.certificates = &service.certificates()->table();
        return sockets;
    }

    worker_service service;
    frontends accepting;
};

bound_sockets bind_all(snapshot const& configuration, std::size_t workers)
{
    bound_sockets all;
    all.by_worker.resize(workers);
    for (frontend_plan const& plan : configuration.frontends) {
        net::listening_attempt attempt =
            net::listen_on_each(plan.addresses, configuration.listen_options, workers);
        for (net::refused_address const& refused : attempt.refused)
            all.problems.push_back(cannot_listen(plan, refused));
        for (net::address const& address : attempt.opened.addresses)
            all.addresses.push_back(net::to_string(address));
        for (std::size_t i = 0; i < workers; ++i)
            for (unique_fd& socket : attempt.opened.sockets[i])
                all.by_worker[i].push_back({std::move(socket), &plan, nullptr});
    }
    return all;
}

void check_addresses(snapshot const& configuration, std::vector<problem>& problems)
{
    for (frontend_plan const& plan : configuration.frontends)
        for (net::refused_address const& refused : net::listen_nowhere(plan.addresses))
            problems.push_back(cannot_listen(plan, refused));
}

worker_group::worker_group(snapshot const& configuration, bound_sockets sockets, logger log)
    : configuration_{configuration}
    , sockets_{std::move(sockets)}
    , log_{log}
    , supply_{
          configuration.catalog.store == nullptr
              ? nullptr
              : std::make_unique<tls::certificate_supply>(*configuration.catalog.store)}
    , ended_{new_eventfd()}
    , serving_(sockets_.by_worker.size())
    , pool_{pool_spec()}
{
}

net::worker_pool_spec worker_group::pool_spec()
{
    std::size_t const count = serving_.size();
    result<cpu_topology> const machine = read_cpu_topology();
    return {
        .workers = count,
        .pin = machine && count == machine->cpus.size(),
        .begin = [this](net::worker& worker) { begin(worker); },
        .end = [this](net::worker& worker) { end(worker); }};
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

void worker_group::begin(net::worker& worker)
{
    std::size_t const number = worker.number();
    ::pthread_setname_np(::pthread_self(), fmt::format("worker-{}", number).c_str());
    serving_[number] = std::make_unique<serving>(
        worker, configuration_, log_.for_worker(static_cast<int>(number)), supply_.get(),
        std::move(sockets_.by_worker[number]));
    ++running_;
}

void worker_group::end(net::worker& worker) noexcept
{
    std::unique_ptr<serving> const ended = std::move(serving_[worker.number()]);
    for (std::size_t i = 0; i < close_reason_count; ++i)
        closed_.at(i) += ended->service.closed().value(static_cast<close_reason>(i));
    --running_;
    std::uint64_t const one = 1;
    static_cast<void>(!::write(ended_.get(), &one, sizeof one));
}

void worker_group::drain()
{
    pool_.broadcast([this](net::worker& worker) { serving_[worker.number()]->accepting.drain(); });
}

void worker_group::interrupt()
{
    pool_.broadcast([this](net::worker& worker) {
        serving_[worker.number()]->accepting.drain();
        worker.interrupt_all();
        worker.stop();
    });
}

void worker_group::take_ended() noexcept
{
    std::uint64_t count = 0;
    static_cast<void>(!::read(ended_.get(), &count, sizeof count));
}

} // namespace cleat::app
