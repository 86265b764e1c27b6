#include "worker_service.hpp"

#include <utility>

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

void worker_service::leave_thread() const noexcept
{
    for (tls::context const& each : contexts_)
        each.leave_thread();
}

void worker_service::retire(std::function<void(worker_service&)> released) noexcept
{
    released_ = std::move(released);
    finish = [](net::task_node& node, bool run) {
        worker_service& self = static_cast<worker_service&>(node);
        // Moved out, because the call gives the service away.
        std::function<void(worker_service&)> const give_away = std::move(self.released_);
        if (!run)
            return;
        self.leave_thread();
        give_away(self);
    };
    if (certificates_)
        certificates_->on_idle([this] { look_for_release(); });
    look_for_release();
}

// A load of a certificate ends on the worker, too. The queue for the upstream may still be among
// the worker's functions; ours comes after it.
void worker_service::look_for_release() noexcept
{
    bool const is_used = open_ != 0 || (certificates_ && !certificates_->is_idle());
    if (released_ && !is_used && !std::exchange(release_queued_, true))
        worker_.push(*this);
}

void worker_service::on_connection() noexcept
{
    ++open_;
    connections_->on_open();
}

void worker_service::on_close(close_reason why) noexcept
{
    connections_->on_close(why);
    --open_;
    look_for_release();
}

} // namespace cleat::app
