#include "network_settings.hpp"
#include "upstream/source_addresses.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker_pool.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
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

// Each worker needs one at least.
void check_limit(upstream_server const& server, std::size_t workers, problem_list& problems)
{
    auto const limit = static_cast<std::size_t>(*server.max_connections);
    if (limit != 0 && limit < workers)
        problems.error(
            server.max_connections.location, "max-connections",
            fmt::format("{} connections are fewer than one for each of {} workers", limit, workers),
            fmt::format("Write {} or more, or fewer workers.", workers));
}

check_rule check_rule_of(upstream_config const& block)
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
        .expect = block.check_expect->bytes};
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

} // namespace

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

std::vector<net::address> find_server(
    upstream_address const& server, location const& where, std::string const& key,
    problem_list& problems)
{
    if (unix_path const* const path = std::get_if<unix_path>(&server))
        return unix_server(*path, where, key, problems);
    host_port const& tcp = std::get<host_port>(server);
    result<std::vector<net::address>> found = net::resolve(tcp.host, std::to_string(tcp.port));
    if (found)
        return std::move(*found);
    problems.error(
        where, key, fmt::format("cannot find the host {}: {}", tcp.host, found.error().message()),
        "Check the name, or give the address itself.");
    return {};
}

upstream_plan find_upstream(config const& settings, std::string const& name, problem_list& problems)
{
    upstream_plan plan;
    upstream_config const* const block =
        name.empty() ? nullptr : find_upstream_block(settings, name);
    if (block == nullptr) {
        setting<upstream_address> const& backend = settings.backend;
        plan.name = to_string(*backend);
        plan.servers = {{plan.name, find_server(*backend, backend.location, "backend", problems)}};
        plan.sources = find_sources(settings.upstream_source, problems);
        return plan;
    }
    plan.name = name;
    plan.strategy = *block->balance;
    plan.eject_after = static_cast<unsigned>(*block->eject_after);
    plan.eject_time = *block->eject_time;
    plan.slow_start = *block->slow_start;
    plan.check = check_rule_of(*block);
    plan.workers = net::worker_count(settings.workers->number);
    plan.sources = find_sources(effective(block->source, settings.upstream_source), problems);
    for (upstream_server const& each : block->servers) {
        plan.servers.push_back(
            {to_string(*each.address),
             find_server(*each.address, each.address.location, "server", problems),
             static_cast<unsigned>(*each.weight), *each.backup,
             static_cast<std::size_t>(*each.max_connections)});
        check_limit(each, plan.workers, problems);
    }
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
