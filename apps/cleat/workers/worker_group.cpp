#include "workers/worker_group.hpp"

#include <cleat/core/cpu_topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::app {
namespace {

access_stream access_stream_of(generation const& made, std::size_t worker) noexcept
{
    if (made.access == nullptr)
        return {};
    bool const is_json = *made.configuration->settings.access_log_format == access_log_format::json;
    access_stream const all{*made.access, is_json ? line_form::json : line_form::logfmt};
    return all.for_worker(worker);
}

worker_part make_part(
    net::worker& worker, generation const& made, std::vector<listening_place> const& places,
    std::vector<unique_fd> sockets, net::worker_certificates* certificates,
    worker_contexts const* before)
{
    worker_part part;
    part.places = places;
    part.sockets = std::move(sockets);
    part.listeners.resize(places.size());
    bool const has_store = made.configuration->catalog.store != nullptr;
    part.service.push_back(std::make_unique<worker_service>(
        worker, *made.configuration, made.log.for_worker(static_cast<int>(worker.number())), places,
        has_store ? certificates : nullptr, before, access_stream_of(made, worker.number())));
    return part;
}

std::vector<worker_table> all_tables(
    std::vector<known_upstream> const& upstreams, std::size_t worker)
{
    std::vector<worker_table> made;
    for (known_upstream const& each : upstreams)
        made.push_back(copy_for_worker(table_of(each), worker));
    return made;
}

} // namespace

// A worker's part on its way to the worker, whose queue owns it.
struct worker_group::replacement : net::task_node
{
    replacement(worker_group& g, std::size_t n) noexcept : group{g}, worker{n}
    {
        finish = [](net::task_node& node, bool run) {
            std::unique_ptr<replacement> const self{static_cast<replacement*>(&node)};
            if (run)
                self->group.workers_[self->worker]->replace(std::move(self->part));
            --self->group.not_replaced_;
            self->group.wake();
        };
    }

    worker_group& group;
    std::size_t worker;
    worker_part part;
};

// A worker's copy of a table, on the same way to the worker.
struct worker_group::table_change : net::task_node
{
    table_change(worker_group& g, std::size_t n, std::size_t u, worker_table t) noexcept
        : group{g}
        , worker{n}
        , configuration{*g.present().configuration}
        , upstream{u}
        , table{std::move(t)}
    {
        finish = [](net::task_node& node, bool run) {
            std::unique_ptr<table_change> const self{static_cast<table_change*>(&node)};
            if (run)
                self->group.workers_[self->worker]->follow(
                    self->configuration, self->upstream, self->table);
        };
    }

    worker_group& group;
    std::size_t worker;
    snapshot const& configuration; // Compared only.
    std::size_t upstream;
    worker_table table;
};

worker_group::worker_group(
    std::unique_ptr<generation> first, bound_sockets sockets, opener const& root_files)
    : upstreams_{
          sockets.by_worker.size(),
          [this](std::size_t upstream, upstream_table const& table) { publish(upstream, table); }}
    , places_{std::move(sockets.places)}
    , first_sockets_{std::move(sockets.by_worker)}
    , challenges_{[this] { wake(); }, root_files.for_files()}
    , certificates_(first_sockets_.size())
    , contexts_(first_sockets_.size())
    , session_owners_{first_sockets_.size()}
    , sessions_(first_sockets_.size())
    , connections_(first_sockets_.size())
    , workers_(first_sockets_.size())
{
    first->workers = size();
    upstreams_.follow(upstreams_.following(first->configuration->upstreams));
    first->server_counts = counts_of(upstreams_.all());
    generations_.push_back(std::move(first));
    pool_.emplace(pool_spec());
    drop_texts(*generations_.front()->configuration);
    for (std::size_t i = 0; i < size(); ++i) {
        life_probes_.push_back(std::make_unique<worker_probe>((*pool_)[i], [] {}));
        queue_probes_.push_back(std::make_unique<worker_probe>(
            (*pool_)[i], [this, i] { workers_[i]->publish_queues(); }));
        memory_probes_.push_back(std::make_unique<worker_probe>((*pool_)[i], [this, i] {
            connections_[i]->follow(memory_share_.load(std::memory_order_relaxed));
        }));
    }
    std::vector<watched_worker> all;
    for (std::size_t i = 0; i < size(); ++i)
        all.push_back(watched(i));
    watch_.emplace(std::move(all));
}

watched_worker worker_group::watched(std::size_t number)
{
    return {
        .ask = [this, number] { life_probes_[number]->ask(); },
        .is_waiting =
            [this, number] {
                return life_probes_[number]->is_waiting() && !connections_[number]->counts().ended;
            }};
}

net::worker_pool_spec worker_group::pool_spec()
{
    result<cpu_topology> const machine = read_cpu_topology();
    return {
        .workers = size(),
        .pin = machine && size() == machine->cpus.size(),
        .begin = [this](net::worker& worker) { begin(worker); },
        .end = [this](net::worker& worker) { end(worker); }};
}

worker_group::~worker_group()
{
    interrupt();
    while (running() != 0) {
        pollfd news = news_.readable();
        static_cast<void>(::poll(&news, 1, -1));
        take_news();
    }
    pool_.reset(); // A worker may have released a service after the last look.
    take_news();
}

// Null: the worker needs none, or has some already.
std::unique_ptr<net::worker_certificates> worker_group::new_certificates(
    net::worker& worker, generation const& made)
{
    if (!made.configuration->catalog.store || certificates_[worker.number()])
        return nullptr;
    return std::make_unique<net::worker_certificates>(
        worker, supply_, static_cast<std::size_t>(*made.configuration->settings.certificate_cache));
}

void worker_group::begin(net::worker& worker)
{
    std::size_t const number = worker.number();
    ::pthread_setname_np(::pthread_self(), fmt::format("worker-{}", number).c_str());
    sessions_[number] = std::make_unique<net::worker_sessions>(worker, session_owners_);
    connections_[number] =
        std::make_unique<worker_connections>(worker, challenges_, size(), sessions_[number].get());
    certificates_[number] = new_certificates(worker, present());
    worker_part first = make_part(
        worker, present(), places_, std::move(first_sockets_[number]), certificates_[number].get(),
        nullptr);
    contexts_[number] = first.service.front()->contexts();
    first.upstreams = all_tables(upstreams_.all(), number); // The main thread waits for us.
    workers_[number] = std::make_unique<terminator_worker>(
        *connections_[number], std::move(first),
        [this](std::unique_ptr<worker_service> free) { release(std::move(free)); });
    ++running_;
}

void worker_group::end(net::worker& worker) noexcept
{
    workers_[worker.number()].reset();
    sessions_[worker.number()]->end();
    if (std::unique_ptr<net::worker_certificates> const& each = certificates_[worker.number()])
        each->end();
    connections_[worker.number()]->counts().ended = true;
    --running_;
    wake();
}

successor worker_group::prepare(std::unique_ptr<generation> made, bound_sockets sockets)
{
    successor next;
    for (std::size_t i = 0; i < size(); ++i) {
        net::worker& worker = (*pool_)[i];
        next.certificates.push_back(new_certificates(worker, *made));
        net::worker_certificates* const added = next.certificates.back().get();
        next.parts.push_back(make_part(
            worker, *made, sockets.places, std::move(sockets.by_worker[i]),
            added != nullptr ? added : certificates_[i].get(), contexts_[i].get()));
        next.contexts.push_back(next.parts.back().service.front()->contexts());
    }
    for (worker_part const& part : next.parts)
        part.service.front()->leave_thread();
    drop_texts(*made->configuration);
    made->workers = size();
    next.made = std::move(made);
    return next;
}

void worker_group::replace(successor&& next)
{
    // All memory first: nothing has changed where there is none.
    pool_->follow_cpu_limit();
    std::vector<known_upstream> upstreams =
        upstreams_.following(next.made->configuration->upstreams);
    next.made->server_counts = counts_of(upstreams);
    std::vector<listening_place> places = next.parts.front().places;
    std::vector<std::unique_ptr<replacement>> parts;
    for (std::size_t i = 0; i < size(); ++i) {
        next.parts[i].upstreams = all_tables(upstreams, i);
        parts.push_back(std::make_unique<replacement>(*this, i));
    }
    generations_.reserve(generations_.size() + 1);

    not_replaced_ = size();
    places_ = std::move(places);
    generations_.push_back(std::move(next.made));
    contexts_ = std::move(next.contexts);
    upstreams_.follow(std::move(upstreams));
    for (std::size_t i = 0; i < size(); ++i) {
        if (next.certificates[i])
            certificates_[i] = std::move(next.certificates[i]);
        parts[i]->part = std::move(next.parts[i]);
    }
    for (std::size_t i = 0; i < size(); ++i)
        (*pool_)[i].push(*parts[i].release());
}

void worker_group::publish(std::size_t upstream, upstream_table const& table)
{
    for (std::size_t i = 0; i < size(); ++i) {
        auto change = std::make_unique<table_change>(*this, i, upstream, copy_for_worker(table, i));
        (*pool_)[i].push(*change.release());
    }
}

std::optional<std::chrono::system_clock::time_point> worker_group::end_ticket_epochs(
    std::chrono::system_clock::time_point now, bool is_reloading)
{
    std::optional<std::chrono::system_clock::time_point> next;
    bool is_over = false;
    for (std::unique_ptr<generation> const& each : generations_) {
        snapshot const& configuration = *each->configuration;
        if (configuration.tickets.ratchets.empty())
            continue;
        std::chrono::seconds const rotation = *configuration.settings.ticket_epoch;
        std::int64_t const epoch = tls::ticket_epoch(rotation, now);
        std::chrono::system_clock::time_point const end{rotation * (epoch + 1)};
        next = std::min(next.value_or(end), end);
        if (epoch == each->ticket_epoch)
            continue;
        is_over = true;
        if (is_reloading)
            continue;
        std::int64_t const oldest =
            tls::oldest_ticket_epoch(rotation, *configuration.settings.ticket_lifetime, now);
        for (std::shared_ptr<tls::ticket_ratchet> const& ratchet : configuration.tickets.ratchets)
            ratchet->advance(oldest); // Unless the clock is wrong: the workers do as much.
        each->ticket_epoch = epoch;
    }
    if (is_over)
        pool_->broadcast(
            [this](net::worker& worker) { workers_[worker.number()]->drop_past_tickets(); });
    return next;
}

void worker_group::drain()
{
    pool_->broadcast([this](net::worker& worker) { workers_[worker.number()]->drain(); });
}

void worker_group::interrupt()
{
    pool_->broadcast([this](net::worker& worker) {
        workers_[worker.number()]->drain();
        worker.interrupt_all();
        worker.stop();
    });
}

void worker_group::end_access_logs() noexcept
{
    for (std::unique_ptr<generation> const& each : generations_)
        if (each->access)
            each->access->end();
}

std::uint64_t worker_group::closed(close_reason why) const noexcept
{
    std::uint64_t sum = 0;
    for (std::unique_ptr<worker_connections> const& each : connections_)
        sum += each->counts().closed.value(why);
    return sum;
}

std::uint64_t worker_group::memory_freed() const noexcept
{
    std::uint64_t sum = generations_freed_;
    for (std::unique_ptr<worker_connections> const& each : connections_)
        sum += each->waves_ended();
    return sum;
}

void worker_group::count(memory_reading& reading) const noexcept
{
    reading.connections = 0;
    reading.half_open = 0;
    for (std::unique_ptr<worker_connections> const& each : connections_) {
        worker_counts const& counts = each->counts();
        std::uint64_t closed = 0; // Before those that were opened: there are never less.
        for (std::size_t i = 0; i < close_reason_count; ++i)
            closed += counts.closed.value(static_cast<close_reason>(i));
        reading.connections += counts.traffic.value(traffic_count::opened) - closed;
        reading.half_open += std::as_const(*each).half_open().size();
    }
}

void worker_group::give(memory_share share) noexcept
{
    memory_share_.store(share, std::memory_order_relaxed);
    for (std::unique_ptr<worker_probe> const& each : memory_probes_)
        each->ask();
}

std::vector<worker_source> worker_group::sources() const
{
    std::vector<worker_source> found;
    for (std::size_t i = 0; i < size(); ++i)
        found.push_back(
            {&connections_[i]->counts(), &connections_[i]->worker(), queue_probes_[i].get()});
    return found;
}

// On a worker's thread. The main thread frees the service: a thousand certificates take a while.
void worker_group::release(std::unique_ptr<worker_service> free) noexcept
{
    released_.post(std::move(free));
    wake();
}

void worker_group::take_news() noexcept
{
    news_.clear();
    while (std::unique_ptr<worker_service> const free = released_.next())
        for (std::unique_ptr<generation> const& each : generations_)
            if (each->configuration.get() == &free->configuration())
                --each->workers;
    generations_freed_ += std::erase_if(
        generations_, [](std::unique_ptr<generation> const& each) { return each->workers == 0; });
}

} // namespace cleat::app
