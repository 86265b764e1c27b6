// admin_control: the main thread's side of the admin server: its address, the facts that it shows,
// and the commands that it takes.

#pragma once

#include "access/access_log_watch.hpp"
#include "admin/admin_facts.hpp"
#include "admin/admin_server.hpp"
#include "log/log_sink.hpp"
#include "process/admin_socket.hpp"
#include "reload/reload_outcome.hpp"
#include "supervise/epoch_watch.hpp"
#include "supervise/name_watch.hpp"
#include "workers/worker_group.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

namespace cleat::app {

/// admin_control belongs to the main thread. Where the configuration has no admin server, it starts
/// no thread.
class admin_control
{
public:
    /// Nothing listens before the first follow. The workers and the watches outlive it.
    admin_control(
        worker_group& workers, access_log_watch const& access, name_watch const& names,
        epoch_watch const& epochs, sandbox_facts limits,
        std::shared_ptr<memory_counts const> memory) noexcept;
    admin_control(admin_control&&) = delete;

    /// Closes the listening socket, and removes the file of a UNIX socket.
    ~admin_control();

    /// follow serves on the address of the present configuration, and shows its facts. Sockets that
    /// only the configuration before had are closed.
    void follow();

    /// count_reload counts an outcome; call follow afterwards.
    void count_reload(reload_outcome const& outcome) noexcept;

    /// look_at_certificates counts the certificates of the present configuration that have expired
    /// or soon will, where there is a server to show it.
    void look_at_certificates();

    /// look_at_upstreams shows what has changed of the upstreams' servers since the last call.
    void look_at_upstreams();

    /// begin_drain: from now on /readyz says that cleat is not ready.
    void begin_drain() noexcept;

    /// next_command is a reload or a drain that a client of the server asks for, or null. The
    /// caller takes it. Other commands are carried out and answered here. Throws std::bad_alloc;
    /// the next call goes on from there.
    [[nodiscard]] std::unique_ptr<admin_command>& next_command();

private:
    // Changes the level of the present log; without a level, back to the configuration's. The
    // change holds until the next one, or until a reload changes log-level or the log.
    [[nodiscard]] admin_answer change_log_level(std::optional<log_level> wanted);
    // Gives a server another weight, or drains it, or ends its drain. The order holds until another
    // order or the end of the process, and over a reload that keeps the server.
    [[nodiscard]] admin_answer change_server(server_order const& order);
    void start();
    void move_to(std::shared_ptr<admin_socket> socket);
    void note_refusal(
        std::vector<problem> const& problems, std::chrono::system_clock::time_point when) noexcept;
    void log_failure(std::exception const& why) const noexcept;
    void follow_log();
    void publish();

    worker_group& workers_;
    access_log_watch const& access_;
    name_watch const& names_;
    epoch_watch const& epochs_;
    sandbox_facts const limits_;
    std::shared_ptr<memory_counts const> const memory_;
    std::chrono::system_clock::time_point const started_ = std::chrono::system_clock::now();
    reload_counts reloads_{.last_done = started_};
    certificate_counts certificates_;
    std::uint64_t upstreams_shown_ = 0;          // The version.
    std::optional<std::uint64_t> counted_after_; // So many reloads.
    std::shared_ptr<log_sink const> log_;
    std::optional<int> configured_log_level_; // Of the configuration before.
    std::uint64_t lines_lost_before_ = 0;
    std::shared_ptr<admin_socket> socket_;
    std::unique_ptr<admin_server> server_;   // Stays when the configuration has none any more.
    std::unique_ptr<admin_command> command_; // Taken from it, and not carried out.
    bool draining_ = false;
};

/// reload_answer is the answer to a command that has asked for a reload. is_ending: cleat takes no
/// reload any more.
[[nodiscard]] admin_answer reload_answer(reload_outcome const& outcome, bool is_ending);

} // namespace cleat::app
