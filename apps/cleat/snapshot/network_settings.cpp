#include "proxy/proxy_protocol.hpp"
#include "resolver/dns_channel.hpp"
#include "resolver/target_places.hpp"
#include "snapshot/network_settings.hpp"
#include "snapshot/tls_plan_loading.hpp"
#include "upstream/source_addresses.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker_pool.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

// The backend may still make its socket, also in the place of a file, but not in that of a
// directory.
std::vector<net::address> unix_server(
    unix_path const& path, location const& where, std::string const& key, problem_list& problems)
{
    std::error_code ec;
    if (fs::is_directory(path.path, ec)) {
        problems.error(
            where, key, fmt::format("{} is a directory", path.path),
            "Name the socket that the backend listens on, with its path.");
        return {};
    }
    if (result<net::address> const made = net::unix_address(path.path))
        return {*made};
    problems.error(
        where, key, fmt::format("the path {} is too long", path.path),
        "The kernel takes at most 107 bytes: use a shorter path or a link.");
    return {};
}

// Each worker needs one at least, or as many as preconnect says.
void check_limit(
    upstream_config const& block, upstream_server const& server, std::size_t workers,
    problem_list& problems)
{
    auto const ready = static_cast<std::size_t>(*block.preconnect) * workers;
    auto const limit = static_cast<std::size_t>(*server.max_connections);
    if (limit != 0 && limit < workers)
        problems.error(
            server.max_connections.location, "max-connections",
            fmt::format("{} connections are fewer than one for each of {} workers", limit, workers),
            fmt::format("Write {} or more, or fewer workers.", workers));
    else if (limit != 0 && limit < ready)
        problems.error(
            server.max_connections.location, "max-connections",
            fmt::format(
                "{} connections are fewer than preconnect = {} for each of {} workers", limit,
                *block.preconnect, workers),
            fmt::format("Write {} or more, or a smaller preconnect.", ready));
}

// TLS begins with a header that names the client, or with the client's protocol.
preconnect_rule preconnect_rule_of(upstream_index const& index, upstream_config const& block)
{
    if (*block.preconnect == 0)
        return {};
    bool const has_header = index.sends_header(*block.name);
    return {
        .connections = static_cast<std::size_t>(*block.preconnect),
        .time = *block.preconnect_time,
        .is_tcp_only = (has_header && *block.tls.proxy_header == proxy_place::before_tls) ||
                       block.tls.alpn->as_client};
}

// The header of a connection that is not a client's.
std::string header_of_checks(announcement way)
{
    std::string header;
    switch (way) {
    case announcement::nothing:
        break;
    case announcement::write_ip: {
        socket_address const loopback{address_family::ipv4, 0, {127, 0, 0, 1}};
        static_cast<void>(append_write_ip(header, loopback)); // Of IPv4, so it has no error.
        break;
    }
    case announcement::write_proxy_v1:
        append_proxy_v1(header, {});
        break;
    case announcement::write_proxy_v2:
    case announcement::proxy_proxy:
        append_proxy_v2_local(header);
        break;
    }
    return header;
}

// A check offers by ALPN what clients may agree on.
std::shared_ptr<check_tls const> check_tls_of(
    config const& settings, upstream_config const& block, upstream_plan const& plan)
{
    if (!plan.tls || *block.check == check_kind::tcp)
        return {};
    check_tls made{
        plan.tls->spec, plan.tls->proxy_header == proxy_place::inside_tls, plan.tls->certificate};
    made.spec.keep_sessions = false;
    if (!block.check_alpn->empty())
        made.spec.alpn = *block.check_alpn;
    else if (plan.tls->offers_clients_protocol)
        made.spec.alpn = *settings.alpn_protos;
    return std::make_shared<check_tls const>(std::move(made));
}

check_rule check_rule_of(
    upstream_index const& index, upstream_config const& block, upstream_plan const& plan)
{
    if (*block.check == check_kind::off)
        return {};
    return {
        .is_on = true,
        .interval = *block.check_interval,
        .timeout = *block.check_timeout,
        .rise = static_cast<unsigned>(*block.check_rise),
        .fall = static_cast<unsigned>(*block.check_fall),
        .send = block.check_send->bytes,
        .expect = block.check_expect->bytes,
        .header = header_of_checks(index.announcement_of_checks(*block.name)),
        .tls = check_tls_of(index.settings(), block, plan)};
}

// Those that this machine has.
std::vector<net::address> find_sources(
    setting<local_addresses> const& named, problem_list& problems)
{
    std::vector<net::address> found;
    for (std::string const& number : named->numbers) {
        result<std::vector<net::address>> const made = net::resolve(number, "0");
        error_code const failed = made ? check_source(made->front()) : made.error();
        if (failed)
            problems.error(
                named.location, "upstream-source",
                fmt::format("no connection can come from {}: {}", number, failed.message()),
                "Name addresses of this machine: see `ip addr`.");
        else
            found.push_back(made->front());
    }
    return found;
}

dns_times times_of(config const& settings) noexcept
{
    return {*settings.dns_min_ttl, *settings.dns_max_ttl};
}

// As hitch has it, its time is the same whatever the TTL is.
dns_times times_of_backend(config const& settings) noexcept
{
    seconds const refresh = *settings.backend_refresh;
    return refresh.count() == 0 ? times_of(settings) : dns_times{refresh, refresh};
}

// Looks up the servers of an upstream. A server that is not found has no addresses, and is an error
// unless that is optional.
class server_finder
{
public:
    server_finder(
        config const& settings, std::string name, upstreams_before const& before,
        problem_list& problems)
        : settings_{dns_settings_of(settings)}
        , is_optional_{*settings.first_lookup == first_lookup::optional}
        , before_{before}
        , problems_{problems}
    {
        plan_.name = std::move(name);
    }

    void add(upstream_server const& server, std::string const& key, dns_times const& times)
    {
        setting<upstream_address> const& address = server.address;
        if (service_name const* const service = std::get_if<service_name>(&*address))
            return add_service(server, *service, key, times);
        server_plan made{
            to_string(*address),
            {},
            static_cast<unsigned>(*server.weight),
            *server.backup,
            static_cast<std::size_t>(*server.max_connections)};
        if (unix_path const* const path = std::get_if<unix_path>(&*address))
            made.addresses = unix_server(*path, address.location, key, problems_);
        else
            add_host(made, std::get<host_port>(*address), address.location, key, times);
        plan_.servers.push_back(std::move(made));
    }

    /// name_certificates says which name the certificates of the servers must have that were added
    /// since the last call.
    void name_certificates(std::string const& name)
    {
        for (; named_ != plan_.servers.size(); ++named_)
            plan_.servers[named_].tls_name = name;
    }

    [[nodiscard]] upstream_plan made() && { return std::move(plan_); }

private:
    void add_host(
        server_plan& made, host_port const& host, location const& where, std::string const& key,
        dns_times const& times)
    {
        dns_question const question{host.host, host.port};
        bool const has_name = is_name(host.host);
        dns_answer answer = find_host(question, has_name);
        bool const is_kept = answer.targets.empty() && has_name && keep(question, answer);
        lookup_report const lookup{
            where, key, fmt::format("host {}", host.host),
            "Check the name, or give the address itself."};
        if (!report(lookup, answer, is_kept, is_optional_ && has_name))
            return;
        if (!answer.targets.empty())
            made.addresses = answer.targets.front().addresses;
        if (has_name)
            plan_.names.push_back(
                {.watched = {question, times, answer.targets},
                 .server = plan_.servers.size(),
                 .targets = {""},
                 .weight = made.weight,
                 .is_backup = made.is_backup,
                 .is_kept = is_kept});
    }

    // By the C library, which knows more places for names than DNS, or by the servers of DNS that
    // the settings name.
    [[nodiscard]] dns_answer find_host(dns_question const& question, bool has_name) const
    {
        if (!settings_.servers.empty() && has_name)
            return dns_answer_now(settings_, question, limits::service_targets_max);
        dns_answer answer;
        result<std::vector<net::address>> found =
            net::resolve(question.name, std::to_string(question.port));
        if (found)
            answer.targets.push_back({{}, std::move(*found)});
        else
            answer.failure = found.error().message();
        return answer;
    }

    // Puts what the configuration before knows of a name into the answer.
    bool keep(dns_question const& question, dns_answer& answer) const
    {
        for (upstream_plan const& each : before_.plans)
            for (planned_name const& known : each.names)
                if (known.watched.question == question) {
                    answer.targets = known.watched.known;
                    return true;
                }
        return false;
    }

    // A name that was looked up, as problems spell it.
    struct lookup_report
    {
        location const& where;
        std::string const& key;
        std::string name;
        char const* cure;
    };

    // False: the name was not found, and that is an error.
    bool report(
        lookup_report const& lookup, dns_answer const& answer, bool is_kept, bool is_optional)
    {
        bool const is_missing = answer.targets.empty();
        if (is_missing && !is_optional)
            problems_.error(
                lookup.where, lookup.key,
                fmt::format("cannot find the {}: {}", lookup.name, answer.failure), lookup.cure);
        else if (is_kept)
            problems_.warning(
                lookup.where, lookup.key,
                fmt::format(
                    "the name cannot be looked up, and keeps its addresses: {}", answer.failure));
        else if (is_missing)
            problems_.warning(
                lookup.where, lookup.key,
                fmt::format(
                    "cannot find the {}: {}; it gets no client until DNS has an address",
                    lookup.name, answer.failure));
        return !is_missing || is_optional;
    }

    // Those of the service's places in use, by place.
    [[nodiscard]] std::vector<std::string> targets_before(
        std::vector<server_plan> const& places) const
    {
        std::vector<std::string> found(places.size());
        for (std::size_t i = 0; i < places.size(); ++i)
            for (placed_target const& each : before_.targets)
                if (each.upstream == plan_.name && each.server == places[i].name)
                    found[i] = each.target;
        return found;
    }

    void add_service(
        upstream_server const& server, service_name const& service, std::string const& key,
        dns_times const& times)
    {
        dns_question const question{service.name, 0, dns_question::kind::service};
        dns_answer answer = dns_answer_now(settings_, question, limits::service_targets_max);
        bool const is_kept = answer.targets.empty() && keep(question, answer);
        lookup_report const lookup{
            server.address.location, key, fmt::format("service {}", service.name),
            "Check its SRV records."};
        static_cast<void>(report(lookup, answer, is_kept, is_optional_));
        auto const weight = static_cast<unsigned>(*server.weight);
        planned_name name{
            .watched = {question, times, answer.targets},
            .server = plan_.servers.size(),
            .targets = {},
            .weight = weight,
            .is_backup = *server.backup,
            .is_kept = is_kept};
        std::string const shown = to_string(*server.address);
        std::vector<server_plan> places;
        for (std::size_t i = 0; i < limits::service_targets_max; ++i)
            places.push_back(
                {i == 0 ? shown : fmt::format("{}/{}", shown, i + 1),
                 {},
                 weight,
                 *server.backup,
                 static_cast<std::size_t>(*server.max_connections),
                 i != 0});
        name.targets = targets_before(places);
        std::vector<dns_target const*> const placed = place_targets(name.targets, answer.targets);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (dns_target const* const target = placed[i]; target != nullptr) {
                name.targets[i] = target->name;
                places[i].addresses = target->addresses;
                places[i].weight = target->weight * weight;
                places[i].is_backup = places[i].is_backup || target->is_backup;
            }
            places[i].target = name.targets[i];
            plan_.servers.push_back(std::move(places[i]));
        }
        plan_.names.push_back(std::move(name));
    }

    dns_settings settings_;
    bool is_optional_;
    upstreams_before const& before_;
    problem_list& problems_;
    upstream_plan plan_;
    std::size_t named_ = 0; // So many servers have the names of their certificates.
};

} // namespace

dns_settings dns_settings_of(config const& settings)
{
    dns_settings made;
    for (host_port const& each : settings.dns_servers->servers)
        made.servers.push_back(
            each.host.find(':') == each.host.npos ? fmt::format("{}:{}", each.host, each.port)
                                                  : to_string(each));
    return made;
}

std::vector<net::address> find_addresses(frontend_config const& frontend, problem_list& problems)
{
    result<std::vector<net::address>> found =
        net::resolve(*frontend.host, std::to_string(*frontend.port));
    if (found)
        return std::move(*found);
    problems.error(
        frontend.location, "frontend",
        fmt::format("cannot find the host {}: {}", *frontend.host, found.error().message()),
        "Give an address of this machine, or * for all of them.");
    return {};
}

upstream_plan find_upstream(
    upstream_index const& index, std::string const& name, std::size_t workers,
    upstreams_before const& before, certificate_files& files, problem_list& problems)
{
    config const& settings = index.settings();
    upstream_config const* const block = name.empty() ? nullptr : index.find(name);
    server_finder finder{
        settings, block == nullptr ? to_string(*settings.backend) : name, before, problems};
    if (block == nullptr) {
        upstream_config const backend = backend_block(settings);
        finder.add(backend.servers.front(), "backend", times_of_backend(settings));
        finder.name_certificates(tls_name_of(backend, backend.servers.front()));
        upstream_plan plan = std::move(finder).made();
        plan.workers = workers;
        plan.sources = find_sources(settings.upstream_source, problems);
        plan.tls = load_tls_plan(backend, files, problems);
        return plan;
    }
    for (upstream_server const& each : block->servers) {
        finder.add(each, "server", times_of(settings));
        finder.name_certificates(tls_name_of(*block, each));
        check_limit(*block, each, workers, problems);
    }
    upstream_plan plan = std::move(finder).made();
    plan.strategy = *block->balance;
    plan.eject_after = static_cast<unsigned>(*block->eject_after);
    plan.eject_time = *block->eject_time;
    plan.slow_start = *block->slow_start;
    plan.preconnect = preconnect_rule_of(index, *block);
    plan.workers = workers;
    plan.sources = find_sources(effective(block->source, settings.upstream_source), problems);
    plan.tls = load_tls_plan(*block, files, problems);
    plan.check = check_rule_of(index, *block, plan);
    return plan;
}

net::listen_options listen_options_of(config const& settings)
{
    net::listen_options options;
    options.backlog = *settings.backlog;
    options.keepalive = *settings.keepalive;
    if (*settings.recv_bufsize > 0)
        options.receive_buffer = *settings.recv_bufsize;
    if (*settings.send_bufsize > 0)
        options.send_buffer = *settings.send_bufsize;
    if (*settings.tcp_fastopen)
        options.fast_open = limits::fast_open_queue;
    return options;
}

void check_fast_open(config const& settings, problem_list& problems)
{
    if (!*settings.tcp_fastopen)
        return;
    constexpr unsigned for_servers = 2; // ip-sysctl: bits of net.ipv4.tcp_fastopen.
    std::ifstream file{"/proc/sys/net/ipv4/tcp_fastopen"};
    unsigned bits = 0;
    if (!(file >> bits) || (bits & for_servers) != 0) // An unreadable one is the kernel's to judge.
        return;
    problems.error(
        settings.tcp_fastopen.location, "tcp-fastopen",
        fmt::format("the kernel takes no data with a SYN: its net.ipv4.tcp_fastopen is {}", bits),
        fmt::format(
            "Leave this out, or run `sysctl -w net.ipv4.tcp_fastopen={}`, and write it into "
            "/etc/sysctl.d.",
            bits | for_servers));
}

} // namespace cleat::app
