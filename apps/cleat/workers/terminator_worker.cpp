#include "workers/terminator_worker.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace cleat::app {
namespace {

std::unique_ptr<listener> try_new_listener(unique_fd socket, frontend_socket& frontend) noexcept
{
    try {
        return std::make_unique<listener>(std::move(socket), frontend);
    } catch (std::bad_alloc const&) {
        frontend.service.log()
            .error("not-listening")
            .add("frontend", frontend.name)
            .add("reason", make_error_code(boost::system::errc::not_enough_memory));
        return nullptr;
    }
}

} // namespace

terminator_worker::terminator_worker(
    worker_connections& connections, worker_part first, on_released released)
    : connections_{connections}
    , released_{std::move(released)}
    , services_{std::move(first.service)}
    , listeners_{std::move(first.listeners)}
{
    worker_service& service = *services_.front();
    service.begin(connections_);
    for (std::size_t i = 0; i < first.upstreams.size(); ++i)
        service.follow(i, first.upstreams[i]);
    for (std::size_t i = 0; i < listeners_.size(); ++i)
        listeners_[i] =
            std::make_unique<listener>(std::move(first.sockets[i]), service.frontend(i));
}

terminator_worker::~terminator_worker()
{
    connections_.failures().end(); // It uses the log of a configuration that ends here.
}

void terminator_worker::replace(worker_part next) noexcept
{
    worker_service& service = *next.service.front();
    service.begin(connections_, services_.front().get());
    for (std::size_t i = 0; i < next.upstreams.size(); ++i)
        service.follow(i, next.upstreams[i]);
    for (std::size_t i = 0; i < next.places.size(); ++i) {
        std::unique_ptr<listener>& place = next.listeners[i];
        if (!next.places[i].kept)
            place = try_new_listener(std::move(next.sockets[i]), service.frontend(i));
        else if ((place = std::move(listeners_[*next.places[i].kept])))
            place->serve(service.frontend(i));
    }
    for (std::unique_ptr<listener> const& each : listeners_)
        if (each)
            each->drain();
    listeners_ = std::move(next.listeners);
    services_.splice(services_.begin(), next.service);
    worker_service& old = **std::next(services_.begin());
    old.retire([this](worker_service& free) { release(free); });
}

void terminator_worker::follow(
    snapshot const& configuration, std::size_t upstream, worker_table& table) noexcept
{
    worker_service& newest = *services_.front();
    if (&newest.configuration() == &configuration)
        newest.follow(upstream, table);
}

void terminator_worker::release(worker_service& free)
{
    auto const found = std::ranges::find(services_, &free, &std::unique_ptr<worker_service>::get);
    std::unique_ptr<worker_service> released = std::move(*found);
    services_.erase(found);
    bool const has_store =
        std::ranges::any_of(services_, [](std::unique_ptr<worker_service> const& each) {
            return each->certificates() != nullptr;
        });
    if (net::worker_certificates* const certificates = released->certificates();
        certificates != nullptr && !has_store)
        certificates->clear();
    released_(std::move(released));
}

void terminator_worker::drop_past_tickets() noexcept
{
    for (std::unique_ptr<worker_service> const& service : services_)
        for (tls::context const& each : *service->contexts())
            each.drop_past_tickets();
}

void terminator_worker::publish_queues() noexcept
{
    worker_counts& counts = connections_.counts();
    counts.handshakes_waiting.store(connections_.line().size(), std::memory_order_relaxed);
    counts.frontends_queued.clear(); // A place may be gone.
    for (std::unique_ptr<listener> const& each : listeners_)
        if (each)
            each->publish_queue();
}

void terminator_worker::drain() noexcept
{
    if (std::exchange(draining_, true))
        return;
    for (std::unique_ptr<listener> const& each : listeners_)
        if (each)
            each->drain();
    for (std::unique_ptr<worker_service> const& each : services_)
        each->end_ready();
    // Not earlier: a queued connection that ends at once must not stop the worker.
    connections_.stop_after_last();
}

} // namespace cleat::app
