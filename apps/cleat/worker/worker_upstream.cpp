#include "preconnect/ready_connections.hpp"
#include "worker/worker_upstream.hpp"

#include <algorithm>
#include <chrono>

namespace cleat::app {
namespace {

bool is_of_service(upstream_plan const& plan, std::size_t server) noexcept
{
    return std::ranges::any_of(plan.names, [server](planned_name const& each) {
        return each.watched.question.what == dns_question::kind::service && server >= each.server &&
               server - each.server < each.targets.size();
    });
}

} // namespace

void server_line::try_again() noexcept
{
    queue.try_again();
    if (ready != nullptr)
        ready->look();
}

void server_line::on_use(ready_connections const* own) noexcept
{
    if (ready != nullptr && ready != own)
        ready->look();
}

worker_upstream::worker_upstream(
    net::worker& worker, upstream_plan const& plan, logger const& log, worker_counts* counts,
    tls::context const* context)
    : upstream_servers{worker, plan, log, counts, context}, ports_{worker}
{
    for (std::size_t i = 0; i != plan.servers.size(); ++i) {
        lines_.push_back(std::make_shared<server_line>(worker));
        queues_.emplace_back(worker);
    }
    if (plan.preconnect.connections != 0)
        ready_ = std::make_unique<ready_connections>(*this);
    for (std::shared_ptr<server_line> const& each : lines_)
        each->ready = ready_.get();
}

worker_upstream::~worker_upstream() = default;

void worker_upstream::follow(worker_table& table) noexcept
{
    for (std::size_t i = 0; i < table.size(); ++i)
        if (take(i, table[i]) && ready_)
            ready_->drop(i);
    if (ready_)
        ready_->look();
}

// The same server in the configuration before. A target of a service may have another place there,
// and no name: it is known by its addresses.
std::optional<std::size_t> worker_upstream::find_in(
    worker_upstream& before, std::size_t server) const noexcept
{
    std::vector<server_plan> const& old = before.plan().servers;
    server_plan const& wanted = plan().servers[server];
    bool const is_target = is_of_service(plan(), server);
    for (std::size_t i = 0; i != old.size(); ++i)
        if (is_target ? is_of_service(before.plan(), i) &&
                            have_common(before.addresses(i).all(), wanted.addresses)
                      : old[i].name == wanted.name)
            return i;
    return std::nullopt;
}

void worker_upstream::go_on_from(worker_upstream& before) noexcept
{
    for (std::size_t i = 0; i != lines_.size(); ++i) {
        std::optional<std::size_t> const number = find_in(before, i);
        if (!number)
            continue;
        servers().share_load(i, before.servers(), *number);
        lines_[i] = before.lines_[*number];
        lines_[i]->ready = ready_.get();
        lines_[i]->try_again(); // The limit may be higher.
    }
}

void worker_upstream::end_ready() noexcept
{
    for (std::shared_ptr<server_line> const& each : lines_)
        if (each->ready == ready_.get())
            each->ready = nullptr;
    if (ready_)
        ready_->end();
}

void worker_upstream::ports_used_up(std::size_t server)
{
    if (counts() != nullptr)
        counts()->traffic.add(traffic_count::ports_used_up);
    net::worker::clock::time_point const now = worker().now();
    if (ports_logged_ && now < *ports_logged_ + std::chrono::minutes{1})
        return;
    ports_logged_ = now;
    log()
        .warning("local-ports-used-up")
        .add("upstream", plan().name)
        .add("server", plan().servers[server].name)
        .add("cure", "name more addresses of this machine in upstream-source");
}

void worker_upstream::awaits_port() noexcept
{
    if (counts() != nullptr)
        counts()->traffic.add(traffic_count::ports_awaited);
}

void worker_upstream::server_failed(std::size_t server, bool tries)
{
    count(server, server_count::failed);
    ejection& health = servers().ejection_of(server);
    if (!health.failed(worker().now(), servers().rule(), tries) || plan().servers.size() == 1)
        return;
    if (ready_)
        ready_->look();
    log()
        .warning("server-ejected")
        .add("upstream", plan().name)
        .add("server", plan().servers[server].name)
        .add("failures", health.failures())
        .add("tried_again_in_ms", plan().eject_time.count());
}

void worker_upstream::server_answered(std::size_t server)
{
    if (!servers().ejection_of(server).succeeded())
        return;
    servers().returned(worker().now(), server);
    if (ready_)
        ready_->look();
    if (plan().servers.size() > 1)
        log()
            .info("server-returned")
            .add("upstream", plan().name)
            .add("server", plan().servers[server].name);
}

} // namespace cleat::app
