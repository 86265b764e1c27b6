// start: the steps of main that can fail, each with a message that says what to do.

#pragma once

#include "access/access_log.hpp"
#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "privileged/opener.hpp"
#include "process/admin_socket.hpp"
#include "process/control_socket.hpp"
#include "process/process.hpp"
#include "sandbox/sandbox.hpp"
#include "snapshot/listening_place.hpp"
#include "snapshot/snapshot.hpp"
#include "start/start_error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::app {

struct serve;

/// report prints problems to stderr, a line each. False when one of them is an error.
bool report(std::vector<problem> const& problems);

/// add_other_places adds the problems of a start to the problems of its settings. A later problem
/// in the same place as an error of the settings has the same cause, and is left out.
void add_other_places(std::vector<problem>& problems, std::vector<problem> later);

/// start_opener starts the process that opens root's files, where the program will give up root's
/// rights: call it before a key is read. Where it cannot be started, that is a warning, and cleat
/// serves without it, as it does in a container.
[[nodiscard]] opener start_opener(
    serve const& request, std::string const& folder, std::optional<identity> const& new_identity,
    std::vector<problem>& problems);

/// require_memory is how many bytes are in use, before the first connection. Throws start_error
/// where max-memory is too small for them.
[[nodiscard]] std::uint64_t require_memory(snapshot const& configuration);

// The next seven functions throw start_error.

[[nodiscard]] background enter_background(config const& settings);
[[nodiscard]] std::unique_ptr<log_sink> open_log(
    config const& settings, std::optional<identity> const& new_identity, opener const& root_files);

/// open_access_sink opens what access-log names. Null: there is none.
[[nodiscard]] std::unique_ptr<log_sink> open_access_sink(
    config const& settings, std::optional<identity> const& new_identity, opener const& root_files);
[[nodiscard]] pid_file write_pid_file(config const& settings);

/// open_admin opens the socket of the admin server, with the rights that a reload has: call it when
/// privileges have been dropped. Null: the configuration has no admin server.
[[nodiscard]] std::shared_ptr<admin_socket> open_admin(
    config const& settings, opener const& root_ports);
void drop_privileges(config const& settings, std::optional<identity> const& new_identity);

/// enter_sandbox takes from this process the rights that it does not need to serve: call it when
/// everything is open, and before a thread starts. `folder` is the working folder of the start. It
/// logs the restrictions that are in force.
[[nodiscard]] sandbox enter_sandbox(
    snapshot const& configuration, std::string const& folder, logger const& log);

/// require_readable fails where a file of the catalog can be read neither with the present rights
/// nor by the opener: call it when privileges have been dropped.
void require_readable(snapshot const& configuration, opener const& root_files);

/// cure_for_reopening is a sentence for the operator: how to make log_sink::reopen succeed. `why`
/// is the opener's refusal.
[[nodiscard]] std::string cure_for_reopening(error_code ec, std::string_view why);

/// problems_of_start are the problems that a start would meet, as far as that can be found out
/// without binding a port or making a file. The observer is load's.
[[nodiscard]] std::vector<problem> problems_of_start(
    config settings, scan_observer const& observer = {});

/// problems_of_single_settings are those problems_of_start that one setting has whatever the others
/// are. They are for a configuration of which some settings could not be read. Problems of
/// certificates are not among them.
[[nodiscard]] std::vector<problem> problems_of_single_settings(config const& partial);

/// single_settings_of are the settings for which problems_of_single_settings looks; the others have
/// their defaults. keep_single_settings leaves of the problems of these settings those that are not
/// of a default.
[[nodiscard]] config single_settings_of(config const& partial);
void keep_single_settings(std::vector<problem>& problems);

/// start_access_log starts the thread that writes to the sink: call it once signals are blocked and
/// privileges dropped. Null where there is no sink.
[[nodiscard]] std::shared_ptr<access_log> start_access_log(
    config const& settings, std::unique_ptr<log_sink> sink, std::size_t workers);

[[nodiscard]] log_level log_level_for(config const& settings) noexcept;

/// open_control opens the socket for commands. Where that fails, the log says so, and cleat serves
/// without commands.
[[nodiscard]] control_socket open_control(logger const& log);

/// log_start logs the version, the TLS library, the addresses and the upstream.
void log_start(
    logger const& log, std::span<listening_place const> places, snapshot const& configuration);

} // namespace cleat::app
