#include "resolver/target_places.hpp"
#include "snapshot/network_settings.hpp"
#include "supervise/name_watch.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <utility>

namespace cleat::app {
namespace {

std::set<std::string> address_texts(std::vector<server_plan> const& servers)
{
    std::set<std::string> texts;
    for (server_plan const& server : servers)
        for (net::address const& each : server.addresses)
            texts.insert(net::to_string(each));
    return texts;
}

// Those of `some` that are not among `others`: the first ones, because a line has its limit.
std::string only_in(std::set<std::string> const& some, std::set<std::string> const& others)
{
    constexpr std::size_t names_max = 8;
    std::vector<std::string> found;
    std::ranges::set_difference(some, others, std::back_inserter(found));
    std::size_t const shown_count = std::min(found.size(), names_max);
    std::string text = fmt::format("{}", fmt::join(std::span{found}.first(shown_count), ","));
    return found.size() == shown_count
               ? text
               : fmt::format("{} and {} more", text, found.size() - shown_count);
}

std::string question_text(dns_question const& question)
{
    return question.what == dns_question::kind::service ? "srv:" + question.name : question.name;
}

// The server from now on. An empty place has no addresses.
server_plan changed(server_plan before, planned_name const& plan, dns_target const* target)
{
    before.addresses = target == nullptr ? std::vector<net::address>{} : target->addresses;
    before.weight = target == nullptr ? plan.weight : target->weight * plan.weight;
    before.is_backup = plan.is_backup || (target != nullptr && target->is_backup);
    if (target != nullptr)
        before.target = target->name;
    return before;
}

bool is_same_server(server_plan const& one, server_plan const& other)
{
    return one.target == other.target && one.weight == other.weight &&
           one.is_backup == other.is_backup && has_same_addresses(one.addresses, other.addresses);
}

} // namespace

void name_watch::follow(snapshot const& present, logger const& log)
{
    if (std::exchange(followed_, &present) == &present)
        return;
    std::vector<name_in_use> const before = std::exchange(names_, {});
    std::vector<watched_name> watched;
    for (upstream_plan const& upstream : present.upstreams)
        for (planned_name const& each : upstream.names) {
            auto const first = upstream.servers.begin() + static_cast<std::ptrdiff_t>(each.server);
            auto const count = static_cast<std::ptrdiff_t>(each.targets.size());
            names_.push_back({upstream.name, each, {first, first + count}});
            if (each.is_kept)
                keep(names_.back(), before);
            watched.push_back(names_.back().plan.watched);
        }
    if (!resolver_ && names_.empty())
        return;
    try {
        if (!resolver_)
            resolver_ = std::make_unique<resolver>(wake_, limits::service_targets_max);
    } catch (std::system_error const& e) {
        log.error("dns-not-followed").add("reason", e.code());
        return;
    }
    order_ = resolver_->watch(dns_settings_of(present.settings), std::move(watched));
}

// The addresses of a name that the reload could not look up may have changed since its plan. That
// is in the log already.
void name_watch::keep(name_in_use& name, std::vector<name_in_use> const& before)
{
    dns_question const& question = name.plan.watched.question;
    auto const old = std::ranges::find_if(
        before, [&](name_in_use const& each) { return each.plan.watched.question == question; });
    if (old == before.end())
        return;
    name.is_failing = old->is_failing;
    static_cast<void>(place(name, old->plan.watched.known));
}

// A reload gives the states other upstreams before it ends, and follow is called at its end. The
// next order looks all names up at once.
void name_watch::look(snapshot const& present, logger const& log)
{
    if (!resolver_ || followed_ != &present)
        return;
    while (std::unique_ptr<dns_news> const news = resolver_->news()) {
        if (news->order != order_) // Of the configuration before.
            continue;
        name_in_use& name = names_[news->name];
        log_failure(name, news->failure, log);
        if (!news->targets.empty())
            take(name, news->targets, log);
    }
}

void name_watch::log_failure(name_in_use& name, std::string const& failure, logger const& log)
{
    bool const is_failing = !failure.empty();
    if (is_failing == std::exchange(name.is_failing, is_failing))
        return;
    std::string const asked = question_text(name.plan.watched.question);
    if (is_failing)
        log.warning("dns-lookup-failed")
            .add("name", asked)
            .add("upstream", name.upstream)
            .add("reason", failure)
            .add("addresses_kept", address_texts(name.servers).size());
    else
        log.warning("dns-lookup-recovered").add("name", asked).add("upstream", name.upstream);
}

// True: the servers have changed.
bool name_watch::place(name_in_use& name, std::vector<dns_target> const& targets)
{
    name.plan.watched.known = targets;
    std::vector<dns_target const*> const placed = place_targets(name.plan.targets, targets);
    bool is_changed = false;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        server_plan next = changed(name.servers[i], name.plan, placed[i]);
        name.plan.targets[i] = next.target;
        if (is_same_server(next, name.servers[i]))
            continue;
        name.servers[i] = std::move(next);
        change(name, i);
        is_changed = true;
    }
    return is_changed;
}

void name_watch::take(name_in_use& name, std::vector<dns_target> const& targets, logger const& log)
{
    std::set<std::string> const before = address_texts(name.servers);
    if (!place(name, targets))
        return;
    std::set<std::string> const after = address_texts(name.servers);
    log.info("dns-changed")
        .add("name", question_text(name.plan.watched.question))
        .add("upstream", name.upstream)
        .add("added", only_in(after, before))
        .add("removed", only_in(before, after))
        .add("addresses", after.size());
}

void name_watch::change(name_in_use const& name, std::size_t number)
{
    server_plan const& next = name.servers[number];
    states_.change(name.upstream, next.name, [&](known_server& each) {
        each.place(next.target, next.addresses);
        each.weight = next.weight;
        each.is_backup = next.is_backup;
    });
}

} // namespace cleat::app
