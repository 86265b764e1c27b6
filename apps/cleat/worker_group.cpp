#include "listener.hpp"
#include "worker_group.hpp"
#include "worker_service.hpp"

#include <cleat/core/cpu_topology.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <deque>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::app {
namespace {

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
    serving(worker_group& group, net::worker& worker, std::vector<unique_fd> sockets)
        : connections{worker}
        , service{
              worker, group.configuration_,
              group.log_.for_worker(static_cast<int>(worker.number())), group.sockets_.places,
              group.supply_.get()}
    {
        service.begin(connections);
        for (unique_fd& socket : sockets)
            listeners.emplace_back(std::move(socket), service.frontend(listeners.size()));
    }

    void drain() noexcept
    {
        if (std::exchange(draining, true))
            return;
        for (listener& each : listeners)
            each.drain();
        // Not earlier: a queued connection that ends at once must not stop the worker.
        connections.stop_after_last();
    }

    worker_connections connections;
    worker_service service;
    std::deque<listener> listeners; // In the order of the places.
    bool draining = false;
};

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
    serving_[number] =
        std::make_unique<serving>(*this, worker, std::move(sockets_.by_worker[number]));
    ++running_;
}

void worker_group::end(net::worker& worker) noexcept
{
    std::unique_ptr<serving> const ended = std::move(serving_[worker.number()]);
    for (std::size_t i = 0; i < close_reason_count; ++i)
        closed_.at(i) += ended->connections.closed().value(static_cast<close_reason>(i));
    --running_;
    std::uint64_t const one = 1;
    static_cast<void>(!::write(ended_.get(), &one, sizeof one));
}

void worker_group::drain()
{
    pool_.broadcast([this](net::worker& worker) { serving_[worker.number()]->drain(); });
}

void worker_group::interrupt()
{
    pool_.broadcast([this](net::worker& worker) {
        serving_[worker.number()]->drain();
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
