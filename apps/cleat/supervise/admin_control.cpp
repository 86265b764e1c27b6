#include "admin/admin_pages.hpp"
#include "admin/status_json.hpp"
#include "certificates/expiry.hpp"
#include "config/table.hpp"
#include "process/version.hpp"
#include "reload/outcome_json.hpp"
#include "supervise/admin_control.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/context_spec.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace cleat::app {
namespace {

// The end of a certificate that is in the store, or else has an origin.
struct certificate_end
{
    validity valid;
    std::string const* origin = nullptr;
    certificate_ending const* known = nullptr; // With an origin.
    tls::certificate_store::number number = tls::certificate_store::none;
};

// find_ends leaves out those of a catalog whose end is far.
template <class Use>
void for_each_end(snapshot const& configuration, Use use)
{
    for (auto const& [origin, end] : configuration.ends)
        use(certificate_end{end.valid, &origin, &end});
    tls::certificate_store const* const store = configuration.catalog.store.get();
    if (store == nullptr)
        return;
    store->for_each([&](tls::certificate_store::number each) {
        use(certificate_end{validity_of(store->summary(each)), nullptr, nullptr, each});
    });
}

// Keeps the first ones, at most `most`, in their order. Most of many certificates are later than
// all of these.
void note_soonest(
    std::vector<certificate_end>& soonest, certificate_end const& next, std::size_t most)
{
    bool const is_full = soonest.size() == most;
    if (is_full && next.valid.end >= soonest.back().valid.end)
        return;
    if (is_full)
        soonest.pop_back();
    auto const end = [](certificate_end const& each) { return each.valid.end; };
    soonest.insert(std::ranges::upper_bound(soonest, next.valid.end, {}, end), next);
}

// A name as the certificate has it: name_key leaves out the star of "*.example.org".
std::string shown_name(std::string_view key)
{
    return key.starts_with('.') ? fmt::format("*{}", key) : std::string{key};
}

soon_certificate described(
    snapshot const& configuration, certificate_end const& end, std::chrono::sys_seconds now)
{
    if (end.origin != nullptr) {
        soon_certificate made{
            .origin = *end.origin,
            .name_count = end.known->name_count,
            .end = end.valid.end,
            .stage = stage_of(end.valid, now)};
        for (std::string const& each : end.known->names)
            made.names.push_back(shown_name(each));
        return made;
    }
    tls::certificate_store const& store = *configuration.catalog.store;
    soon_certificate made{
        .origin = store.origin(end.number),
        .end = end.valid.end,
        .stage = stage_of(end.valid, now)};
    store.for_each_name(end.number, [&](std::string_view name) {
        ++made.name_count;
        if (made.names.size() < limits::admin_names_max)
            made.names.push_back(shown_name(name));
    });
    return made;
}

certificate_counts count_ends(snapshot const& configuration)
{
    certificate_counts found{
        .when = std::chrono::system_clock::now(),
        .all = count_certificates(configuration),
        .with_metric = static_cast<std::size_t>(*configuration.settings.certificate_metrics)};
    auto const now = std::chrono::floor<std::chrono::seconds>(found.when);
    std::size_t const most = std::max(
        limits::admin_soonest_max,
        static_cast<std::size_t>(*configuration.settings.certificate_metrics));
    std::vector<certificate_end> soonest;
    for_each_end(configuration, [&](certificate_end const& each) {
        ++found.by_stage[static_cast<std::size_t>(stage_of(each.valid, now))];
        auto const* const bound = std::ranges::find_if(days_left_bounds, [&](int days) {
            return each.valid.end <= now + std::chrono::days{days};
        });
        ++found.by_days_left[static_cast<std::size_t>(bound - days_left_bounds.begin())];
        note_soonest(soonest, each, most);
    });
    if (!soonest.empty())
        found.soonest_end = soonest.front().valid.end;
    for (certificate_end const& each : soonest)
        found.soonest.push_back(described(configuration, each, now));
    return found;
}

std::string unknown_server_text(
    std::vector<known_upstream> const& upstreams, server_order const& order)
{
    std::vector<std::string_view> names;
    for (known_upstream const& upstream : upstreams)
        if (upstream.name == order.upstream) {
            for (known_server const& server : upstream.servers)
                names.push_back(server.name);
            return fmt::format(
                "the upstream {} has no server {}; its servers are {}", order.upstream,
                order.server, fmt::join(names, ", "));
        }
    for (known_upstream const& upstream : upstreams)
        names.push_back(upstream.name);
    return fmt::format(
        "there is no upstream {} in use; the upstreams are {}", order.upstream,
        fmt::join(names, ", "));
}

std::chrono::sys_seconds end_of_crl(crl_ending const& each) noexcept
{
    return each.end.time;
}

std::optional<std::chrono::seconds> ticket_rotation_of(snapshot const& configuration)
{
    for (tls_plan const& each : configuration.tls)
        if (each.spec.tickets || !each.spec.ticket_ratchets.empty())
            return each.spec.ticket_rotation;
    return std::nullopt;
}

} // namespace

admin_control::admin_control(
    worker_group& workers, access_log_watch const& access, name_watch const& names,
    epoch_watch const& epochs, sandbox_facts limits,
    std::shared_ptr<memory_counts const> memory) noexcept
    : workers_{workers}
    , access_{access}
    , names_{names}
    , epochs_{epochs}
    , limits_{std::move(limits)}
    , memory_{std::move(memory)}
{
}

admin_control::~admin_control()
{
    if (socket_)
        socket_->close();
}

// Facts are published before the server listens: its first client gets them.
void admin_control::follow()
{
    follow_log();
    std::shared_ptr<admin_socket> const& wanted = workers_.present().admin;
    if (wanted && !server_)
        start();
    if (counted_after_ != reloads_.done)
        look_at_certificates();
    publish();
    if (wanted != socket_)
        move_to(wanted);
}

void admin_control::start()
{
    try {
        server_ = std::make_unique<admin_server>(workers_.sources(), [this] { workers_.wake(); });
    } catch (std::exception const& e) { // Asio's system_error is no std::system_error.
        log_failure(e);
        return;
    }
    if (draining_)
        server_->begin_drain();
}

// The old address is given up when the new one is served. After a failure the next follow tries
// again.
void admin_control::move_to(std::shared_ptr<admin_socket> socket)
{
    if (socket) {
        if (!server_)
            return;
        try {
            server_->listen(socket->native_handle(), socket->address());
            workers_.present()
                .log.info("admin-listening")
                .add("address", net::to_string(socket->address()));
        } catch (std::exception const& e) {
            log_failure(e);
            return;
        }
    } else if (server_) {
        server_->stop_listening();
    }
    if (std::shared_ptr<admin_socket> const before = std::exchange(socket_, std::move(socket)))
        before->close();
}

void admin_control::log_failure(std::exception const& why) const noexcept
{
    workers_.present()
        .log.error("admin-not-listening")
        .add("reason", why.what())
        .add("cure", "raise the limits of descriptors and threads, and reload");
}

// The line is a warning, and written at the higher of both levels: it tells a reader of the log why
// there are more lines, or fewer.
admin_answer admin_control::change_log_level(std::optional<log_level> wanted)
{
    generation const& present = workers_.present();
    int const configured = *present.configuration->settings.log_level;
    log_level const before = present.log.present_level();
    log_level const after = wanted.value_or(*log_level_of(configured));
    if (after != before) {
        present.sink->set_level(static_cast<int>(std::max(before, after)));
        present.log.warning("log-level-changed")
            .add("from", setting_of(before))
            .add("to", setting_of(after))
            .add("configured", configured);
    }
    present.sink->set_level(wanted ? static_cast<int>(after) : log_sink::own_levels);
    publish();
    return {
        200,
        fmt::format("{{\"log_level\": {}, \"configured\": {}}}\n", setting_of(after), configured)};
}

// The log has a line, so that an operator can see why a server has no connections.
admin_answer admin_control::change_server(server_order const& order)
{
    known_server after;
    bool const is_known =
        workers_.upstreams().change(order.upstream, order.server, [&](known_server& server) {
            server.is_drained = order.is_drained.value_or(server.is_drained);
            if (order.weight)
                server.operators_weight = *order.weight == 0 ? std::nullopt : order.weight;
            after = server;
        });
    if (!is_known)
        return {404, problem_json(unknown_server_text(workers_.upstreams().all(), order))};
    server_row const row = after.row();
    workers_.present()
        .log.warning("server-changed")
        .add("upstream", order.upstream)
        .add("server", order.server)
        .add("state", to_string(row.state))
        .add("weight", row.weight);
    look_at_upstreams();
    return {200, server_json(after) + "\n"};
}

void admin_control::look_at_upstreams()
{
    if (upstreams_shown_ != workers_.upstreams().version())
        publish();
}

// Lines that older connections lose in the log before are not counted any more.
void admin_control::follow_log()
{
    int const configured = *workers_.present().configuration->settings.log_level;
    if (std::exchange(configured_log_level_, configured).value_or(configured) != configured)
        workers_.present().sink->set_level(log_sink::own_levels);
    if (log_ == workers_.present().sink)
        return;
    if (log_)
        lines_lost_before_ += log_->lines_lost();
    log_ = workers_.present().sink;
}

// Without memory for the reasons, the log has them.
void admin_control::note_refusal(
    std::vector<problem> const& problems, std::chrono::system_clock::time_point when) noexcept
{
    try {
        std::size_t const shown = std::min(problems.size(), limits::admin_problems_max);
        reloads_.refusal = std::make_shared<refused_reload const>(refused_reload{
            when,
            {problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(shown)},
            problems.size()});
    } catch (std::bad_alloc const&) {
    }
}

void admin_control::count_reload(reload_outcome const& outcome) noexcept
{
    if (!outcome.done && !outcome.is_final)
        return; // It waits for files: another one follows by itself.
    ++(outcome.done ? reloads_.done : reloads_.refused);
    reloads_.last_was_done = outcome.done;
    reloads_.refusal.reset();
    auto const now = std::chrono::system_clock::now();
    if (outcome.done)
        reloads_.last_done = now;
    else
        note_refusal(outcome.problems, now);
}

void admin_control::look_at_certificates()
{
    if (!server_)
        return;
    certificates_ = count_ends(*workers_.present().configuration);
    counted_after_ = reloads_.done;
    publish();
}

void admin_control::begin_drain() noexcept
{
    draining_ = true;
    if (server_)
        server_->begin_drain();
}

std::unique_ptr<admin_command>& admin_control::next_command()
{
    while (server_ && (command_ || (command_ = server_->next_command()))) {
        if (command_->what == admin_command::kind::log_level)
            command_->answer(change_log_level(command_->level));
        else if (command_->what == admin_command::kind::server)
            command_->answer(change_server(command_->order));
        else
            break;
        command_.reset();
    }
    return command_;
}

void admin_control::publish()
{
    if (!server_)
        return;
    snapshot const& configuration = *workers_.present().configuration;
    auto facts = std::make_shared<admin_facts>();
    facts->version = version;
    facts->tls_library = tls_library();
    facts->pid = fmt::to_string(::getpid());
    facts->sandbox = limits_;
    facts->started = started_;
    for (listening_place const& each : workers_.places())
        facts->frontends.push_back(net::to_string(each.address));
    facts->upstreams = workers_.upstreams().all();
    upstreams_shown_ = workers_.upstreams().version();
    facts->configuration_file = configuration.settings.file;
    facts->configuration_text = configuration.settings.text;
    config const defaults;
    for (key_row const& row : config_table()) {
        if (row.show == nullptr)
            continue;
        facts->settings.emplace_back(row.name, row.show(configuration.settings));
        if (facts->settings.back().second != row.show(defaults))
            facts->changed_keys.emplace_back(row.name);
    }
    facts->configurations = workers_.generations();
    facts->certificates = certificates_;
    facts->certificates.all = count_certificates(configuration);
    if (!configuration.crl_ends.empty())
        facts->soonest_crl_end = std::ranges::min(configuration.crl_ends, {}, end_of_crl).end.time;
    facts->reloads = reloads_;
    facts->ticket_rotation = ticket_rotation_of(configuration);
    facts->ticket_secrets = configuration.tickets.size();
    if (*configuration.settings.ticket_ratchet && !configuration.settings.ticket_secret->empty())
        facts->ticket_file = epochs_.counts();
    facts->log = log_;
    facts->log_level = setting_of(workers_.present().log.present_level());
    facts->lines_lost_before = lines_lost_before_;
    facts->access = access_.present();
    facts->names = names_.counts();
    facts->holds = workers_.watch().counts();
    facts->memory = memory_;
    facts->access_lines_lost_before = access_.lost_before();
    server_->publish(std::move(facts));
}

admin_answer reload_answer(reload_outcome const& outcome, bool is_ending)
{
    unsigned const refused = is_ending ? 409 : 422;
    return {outcome.done ? 200 : refused, to_json(outcome)};
}

} // namespace cleat::app
