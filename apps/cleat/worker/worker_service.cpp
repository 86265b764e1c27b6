#include "limits/sip_hash.hpp"
#include "limits/worker_limits.hpp"
#include "worker/worker_service.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace cleat::app {
namespace {

tls::context new_context(
    tls_plan const& plan, net::worker_certificates* certificates, worker_contexts const* previous)
{
    if (plan.certificates == nullptr)
        return tls::context{plan.spec};
    if (previous != nullptr && plan.same_contexts)
        return tls::context{(*previous)[*plan.same_contexts], *plan.certificates};
    return tls::context{plan.spec, *plan.certificates, certificates->table()};
}

// Null where the limits need none, or the worker keeps the one that it has.
std::unique_ptr<client_table> new_client_table(limit_plan const& limits)
{
    if (!limits.clients.is_on() || limits.keeps_clients)
        return nullptr;
    return std::make_unique<client_table>(limits.clients.table_size, new_sip_key());
}

} // namespace

worker_service::worker_service(
    net::worker& worker, snapshot const& configuration, logger log,
    std::span<listening_place const> places, net::worker_certificates* certificates,
    worker_contexts const* previous, access_stream access)
    : worker_{worker}
    , configuration_{configuration}
    , log_{log}
    , access_{access}
    , certificates_{certificates}
{
    auto contexts = std::make_shared<worker_contexts>();
    for (tls_plan const& plan : configuration.tls) {
        contexts->push_back(new_context(plan, certificates, previous));
        policies_.push_back({&contexts->back(), &plan});
    }
    contexts_ = std::move(contexts);
    clients_ = new_client_table(configuration.limits);
    for (upstream_plan const& plan : configuration.upstreams)
        upstream_contexts_.push_back(
            plan.tls ? std::make_unique<tls::context const>(plan.tls->spec) : nullptr);
    for (listening_place const& place : places)
        frontends_.push_back(
            {*this, configuration.frontends[place.frontend], policies_[place.frontend],
             net::to_string(place.address)});
}

void worker_service::begin(worker_connections& connections, worker_service* previous)
{
    connections_ = &connections;
    worker_.set_handshake_time(
        std::chrono::microseconds{*configuration_.settings.handshake_budget});
    connections.failures().follow(log_, *configuration_.settings.log_burst);
    if (certificates_ != nullptr)
        certificates_->renew(static_cast<std::size_t>(*configuration_.settings.certificate_cache));
    begin_upstreams(previous);
    for (frontend_socket& each : frontends_) {
        each.counts = connections.counts().of_frontend(each.name);
        each.upstream = &upstreams_[each.plan.upstream];
    }
    begin_limits();
    connections.list_stalled(configuration_.memory_max != 0);
    begin_sessions();
}

void worker_service::begin_upstreams(worker_service* previous)
{
    std::unordered_map<std::string_view, worker_upstream*> old;
    if (previous != nullptr)
        for (worker_upstream& each : previous->upstreams_)
            old.emplace(each.plan().name, &each);
    for (std::size_t i = 0; i < configuration_.upstreams.size(); ++i) {
        upstream_plan const& plan = configuration_.upstreams[i];
        worker_upstream& made = upstreams_.emplace_back(
            worker_, plan, log_, &connections_->counts(), upstream_contexts_[i].get());
        if (auto const found = old.find(plan.name); found != old.end())
            made.go_on_from(*found->second);
    }
}

// Sessions of the configuration before stay: each resumes only in a context with its session_scope.
void worker_service::begin_sessions() noexcept
{
    config const& settings = configuration_.settings;
    connections_->bound_sessions(
        static_cast<std::size_t>(*settings.session_cache), *settings.ticket_lifetime);
    net::worker_sessions* const sessions = connections_->sessions();
    if (sessions == nullptr)
        return;
    for (tls::context& each : *contexts_)
        each.keep_sessions_in(sessions->cache());
}

void worker_service::begin_limits()
{
    worker_limits& limits = connections_->limits();
    limits.follow(configuration_.limits, std::move(clients_));
    for (frontend_socket& each : frontends_) {
        frontend_limit const& limit = limit_of(configuration_, each.plan);
        each.open = &limits.frontend(limit.name);
        each.connections_max = limits.share(limit.connections);
        each.clients = limits.scope(limit);
    }
    for (frontend_limit const& each : configuration_.limits.routes)
        route_clients_.push_back(limits.scope(each));
}

void worker_service::leave_thread() const noexcept
{
    for (tls::context const& each : *contexts_)
        each.leave_thread();
    for (std::unique_ptr<tls::context const> const& each : upstream_contexts_)
        if (each)
            each->leave_thread();
}

void worker_service::retire(std::function<void(worker_service&)> released) noexcept
{
    end_ready();
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
    look_for_release();
}

void worker_service::end_ready() noexcept
{
    for (worker_upstream& each : upstreams_)
        each.end_ready();
}

// The worker's queue may still hold tasks of an upstream, or of a preconnected connection. Ours
// comes after them.
void worker_service::look_for_release() noexcept
{
    if (released_ && open_ == 0 && !std::exchange(release_queued_, true))
        worker_.push(*this);
}

void worker_service::on_connection(frontend_socket const& frontend) noexcept
{
    ++open_;
    ++frontend.open->open;
    connections_->on_open();
    if (frontend.counts.opened != nullptr)
        frontend.counts.opened->add();
}

void worker_service::on_close(frontend_socket const& frontend, close_reason why) noexcept
{
    if (frontend.counts.closed != nullptr)
        frontend.counts.closed->add();
    --frontend.open->open;
    connections_->on_close(why);
    --open_;
    look_for_release();
}

} // namespace cleat::app
