// cleat, the TLS terminator: from the command line to the last connection. The life of one
// connection is in terminator.cpp.

#include "activation/passed_sockets.hpp"
#include "admin/metric_table.hpp"
#include "command_line/command_line.hpp"
#include "commands/check_command.hpp"
#include "commands/explain_command.hpp"
#include "commands/health_command.hpp"
#include "commands/reload_command.hpp"
#include "commands/secret_command.hpp"
#include "commands/test_command.hpp"
#include "file_limit.hpp"
#include "process/notify_socket.hpp"
#include "process/process.hpp"
#include "process/version.hpp"
#include "snapshot/snapshot.hpp"
#include "standard_error.hpp"
#include "standard_output.hpp"
#include "start/named_places.hpp"
#include "start/start.hpp"
#include "start/ticket_file.hpp"
#include "supervise/supervise.hpp"
#include "workers/worker_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

int run(serve const& request)
{
    // Every mistake of the configuration is reported here, before anything is changed.
    passed_sockets passed = take_passed_sockets();
    std::string const folder = std::filesystem::current_path().string();
    std::vector<problem> problems = request.warnings;
    start_memory_protection(request.settings); // Before a key is read.
    std::optional<identity> const new_identity = find_identity(request.settings, problems);
    check_sandbox_folders(request.settings, problems);
    // Before a key is read: the process begins with a copy of this one's memory.
    opener const root_files = start_opener(request, folder, new_identity, problems);
    loading loaded = load(request.settings, {}, {}, root_files);
    std::ranges::move(loaded.problems, std::back_inserter(problems));
    loaded.problems = std::move(problems);
    std::ranges::move(passed.problems, std::back_inserter(loaded.problems));
    if (!report(loaded.problems))
        return EXIT_FAILURE;
    auto configuration = std::make_unique<snapshot>(std::move(loaded.made));
    config const& settings = configuration->settings;

    // Set up the process: daemon, ports, pid file, log, user.
    notify_socket const notify;
    background daemon = enter_background(settings);
    raise_file_limit();
    keep_heap();
    signals arrived;
    bound_sockets sockets = bind_all(
        *configuration, net::worker_count(settings.workers->number), {}, root_files,
        std::move(passed.sockets));
    if (!report(sockets.problems))
        return EXIT_FAILURE;
    // The pid file is removed again when a later step fails; a log file that was made stays.
    pid_file const pid = write_pid_file(settings);
    std::shared_ptr<log_sink> sink = open_log(settings, new_identity, root_files);
    std::unique_ptr<log_sink> access_sink = open_access_sink(settings, new_identity, root_files);
    logger const log{*sink, log_level_for(settings)};
    drop_privileges(settings, new_identity);
    if (new_identity || !settings.chroot->empty())
        require_readable(*configuration, root_files);
    // Before connections can use up the descriptors.
    std::shared_ptr<admin_socket> admin = open_admin(settings, root_files);
    control_socket const control = open_control(log);
    sandbox const limits = enter_sandbox(*configuration, folder, log);
    rewrite_ratchets_at_start(settings, folder);

    // Serve.
    std::shared_ptr<access_log> access = start_access_log(
        settings, std::move(access_sink), net::worker_count(settings.workers->number));
    worker_group workers{
        std::make_unique<generation>(generation{
            std::move(configuration), std::move(sink), log, std::move(admin), std::move(access)}),
        std::move(sockets), root_files};
    std::uint64_t const memory = require_memory(*workers.present().configuration);
    log_start(log, workers.places(), *workers.present().configuration);
    daemon.succeeded();
    supervise(
        workers, arrived, notify, control,
        {request.command_line, folder, root_files, limits, memory});
    return EXIT_SUCCESS;
}

int run(check_only const& request)
{
    return test_configuration(request);
}

int run(report_certificates const& request)
{
    return report_on_certificates(request);
}

int run(explain_client const& request)
{
    return explain(request);
}

int run(reload_running const& request)
{
    return reload_a_running_cleat(request);
}

int run(ask_health const& request)
{
    return ask_for_health(request);
}

int run(make_ticket_secret const& request)
{
    return write_ticket_secret(request);
}

int run(print_text const& request)
{
    if (request.exit_code == 0)
        fmt::print("{}", request.text);
    else
        complain("{}", request.text);
    return request.exit_code;
}

int run(show_version const&)
{
    fmt::print("{}", version_text());
    return EXIT_SUCCESS;
}

int run(show_metrics const&)
{
    fmt::print("{}", metrics_reference());
    return EXIT_SUCCESS;
}

int run(refused const& request)
{
    std::vector<problem> all = request.problems;
    if (request.rest && request.rest_is_whole)
        add_other_places(all, problems_of_start(*request.rest));
    else if (request.rest) {
        add_other_places(all, problems_of_single_settings(*request.rest));
        add_other_places(all, problems_of_named_files(*request.rest, request.problems));
    }
    report(all);
    return EXIT_FAILURE;
}

} // namespace
} // namespace cleat::app

int main(int argc, char** argv)
{
    using namespace cleat::app;
    hold_standard_descriptors();
    try {
        command const request = parse_command_line({argv, static_cast<std::size_t>(argc)});
        int const code = std::visit([](auto const& r) { return run(r); }, request);
        cleat::flush_standard_output();
        return code;
    } catch (start_error const& e) {
        report({e.why});
    } catch (std::exception const& e) {
        report({{problem::severity::error, {}, {}, e.what(), {}}});
    }
    return EXIT_FAILURE;
}
