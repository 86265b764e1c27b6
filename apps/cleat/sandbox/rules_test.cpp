#include "sandbox/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace cleat::app::rules_test {
namespace {

// All rights that a path has by a rule of its own.
std::uint64_t given(sandbox_rules const& rules, std::string_view path)
{
    std::uint64_t found = 0;
    for (path_rule const& each : rules.paths)
        if (each.path == path)
            found |= each.rights;
    return found;
}

sandbox_rules rules_of(
    config const& settings, watched_files const& named = {}, bool is_root = false,
    std::string_view log_folders = {})
{
    return rules_for(settings, named, "/start", is_root, log_folders);
}

} // namespace

TEST_CASE("the folder of a named file may be read, and the one above it, unless it is shared")
{
    watched_files const named{
        {"/srv/tls/live/site", {{"fullchain.pem"}, false}},
        {"/srv/tls/archive/site", {{"fullchain1.pem"}, false}},
        {"/var/lib/keys", {{}, true}},
        {"/run/user/1000/keys", {{}, true}},
        {"/", {{"site.pem"}, false}}};
    sandbox_rules const rules = rules_of({}, named);
    for (char const* const each :
         {"/srv/tls/live/site", "/srv/tls/live", "/srv/tls/archive", "/var/lib/keys",
          "/run/user/1000/keys", "/site.pem", "/etc", "/proc/self"})
        CHECK(given(rules, each) == rights::reading);
    for (char const* const each :
         {"/", "/srv", "/var/lib", "/run/user/1000", "/root", "/run", "/tmp"})
        CHECK((given(rules, each) & rights::reading) == 0);
}

TEST_CASE("a log may be written in each folder of LOGS_DIRECTORY")
{
    sandbox_rules const rules = rules_of({}, {}, true, ":/var/log/cleat:/var/log/more/:other:");
    CHECK(given(rules, "/var/log/cleat") == rights::logging);
    CHECK(given(rules, "/var/log/more") == rights::logging);
    CHECK(given(rules, "/start/other") == 0);
    CHECK(given(rules, "/start") == 0);
}

TEST_CASE("what is written are the folders of log, index, pid file and socket")
{
    config settings;
    settings.log_filename.value = "logs/cleat.log";
    settings.access_log.value = "/var/log/cleat/access.log";
    settings.certificate_index.value = "/var/cache/cleat/index";
    settings.pidfile.value = "/run/cleat/pid";
    settings.ticket_secret.value = "/var/lib/cleat/tickets";
    settings.ticket_ratchet.value = true;
    settings.admin.value = unix_path{"/run/cleat-admin/socket"};
    settings.sandbox_read.push_back({"/srv/later", {}});
    settings.sandbox_write.push_back({"/var/log/later/", {}});
    sandbox_rules const rules = rules_of(settings, {}, true);
    CHECK(given(rules, "/start/logs") == rights::logging);
    CHECK(given(rules, "/var/log/cleat") == rights::logging);
    CHECK(given(rules, "/var/cache/cleat") == rights::replacing);
    CHECK(given(rules, "/run/cleat") == rights::removing);
    CHECK(given(rules, "/run/cleat-admin") == rights::sockets);
    CHECK(given(rules, "/var/lib/cleat") == (rights::reading | rights::replacing));
    CHECK(given(rules, "/srv/later") == rights::reading);
    CHECK(given(rules, "/var/log/later") == rights::writing);
    CHECK(given(rules, "/run") == 0);
    auto const executes = [](path_rule const& each) {
        return (each.rights & landlock::execute) != 0;
    };
    CHECK(std::ranges::none_of(rules.paths, executes));
    CHECK(given(rules_of(settings), "/run") == rights::sockets);
}

TEST_CASE("a log that is no regular file is one alone")
{
    config settings;
    settings.log_filename.value = "/dev/null";
    sandbox_rules const rules = rules_of(settings);
    CHECK(given(rules, "/dev/null") == (rights::reading | landlock::write_file));
    CHECK(given(rules, "/dev") == 0);
    settings.log_filename.value = "/dev/stderr";
    CHECK(given(rules_of(settings), "/dev") == 0);
}

TEST_CASE("ports are those of the frontends, of admin, of the upstream and of DNS")
{
    config settings;
    settings.sandbox.value = {landlock_use::required, true, false};
    settings.frontends.emplace_back().port.value = 443;
    settings.admin.value = host_port{"127.0.0.1", 9443};
    settings.backend.value = host_port{"127.0.0.1", 8000};
    sandbox_rules const rules = rules_of(settings);
    CHECK(rules.limits_ports);
    CHECK(rules.bound_ports == std::vector<std::uint16_t>{443, 9443});
    CHECK(rules.connected_ports == std::vector<std::uint16_t>{8000, 53});
    settings.upstream_source.value = {{"192.0.2.1"}};
    CHECK(rules_of(settings).bound_ports == std::vector<std::uint16_t>{443, 9443, 0});
    settings.backend.value = unix_path{"/run/app.sock"};
    CHECK(rules_of(settings).connected_ports == std::vector<std::uint16_t>{53});
    settings.dns_servers.value = {{{"127.0.0.1", 5353}}};
    CHECK(rules_of(settings).connected_ports == std::vector<std::uint16_t>{53, 5353});
    CHECK_FALSE(rules_of({}).limits_ports);
}

} // namespace cleat::app::rules_test
