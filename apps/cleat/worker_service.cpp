#include "worker_service.hpp"

namespace cleat::app {
namespace {

tls::context new_context(frontend_plan const& plan, worker_certificates* certificates)
{
    if (plan.certificates == nullptr)
        return tls::context{plan.tls};
    return tls::context{plan.tls, *plan.certificates, certificates->table()};
}

} // namespace

worker_service::worker_service(
    net::worker& worker, snapshot const& configuration, logger log,
    std::span<listening_place const> places, tls::certificate_supply* supply)
    : worker_{worker}, configuration_{configuration}, log_{log}
{
    if (supply != nullptr)
        certificates_ = std::make_unique<worker_certificates>(
            worker, *supply, *configuration.catalog.store,
            static_cast<std::size_t>(*configuration.settings.certificate_cache));
    for (frontend_plan const& plan : configuration.frontends)
        contexts_.push_back(new_context(plan, certificates_.get()));
    for (listening_place const& place : places)
        frontends_.push_back({*this, contexts_[place.frontend], net::to_string(place.address)});
}

void worker_service::begin(worker_connections& connections)
{
    connections_ = &connections;
    upstream_queue_.emplace(worker_);
}

void worker_service::on_connection() noexcept
{
    connections_->on_open();
}

void worker_service::on_close(close_reason why) noexcept
{
    connections_->on_close(why);
}

} // namespace cleat::app
