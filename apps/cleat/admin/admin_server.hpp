// admin_server: metrics, health and commands over HTTP, on a thread of its own.

#pragma once

#include "admin/admin_facts.hpp"
#include "admin/metric_table.hpp"
#include "admin/server_order.hpp"
#include "log/log.hpp"

#include <cleat/net/socket_options.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleat::app {

/// admin_answer is the main thread's answer to a command.
struct admin_answer
{
    unsigned status = 200; ///< Of HTTP.
    std::string json;
};

/// admin_command is a request that the main thread has to answer.
struct admin_command
{
    enum class kind
    {
        reload,
        drain,
        log_level,
        server,
    };

    kind what = kind::reload;
    std::optional<log_level> level; ///< For log_level; unset: that of the configuration.
    server_order order{};           ///< For server.
    /// Call it once, on any thread. It does not wait for the client, who may be gone.
    std::function<void(admin_answer)> answer;

    admin_command* next = nullptr; ///< For the main thread's inbox.
};

/// admin_server takes HTTP/1.1 requests. Each connection, request and answer, except the wait for a
/// command, has a limit in limits.hpp, so that a client which is stuck costs nothing. The thread
/// has a low priority, and shares no lock with a worker: it reads the numbers that workers publish.
///
/// The main thread uses it.
class admin_server
{
public:
    /// Starts the thread. `wake` is called when a command has come, on that thread. Sources and
    /// what they point to outlive the server. Throws std::system_error.
    admin_server(std::vector<worker_source> workers, std::function<void()> wake);
    admin_server(admin_server&&) = delete;

    /// Stops listening, lets answers that are on their way leave for limits::admin_end_time, and
    /// ends the thread. Commands without an answer get 503.
    ~admin_server();

    /// listen serves on a copy of a listening socket, instead of the one before. Connections of
    /// that one end with their answers.
    /// Throws std::system_error.
    void listen(int fd, net::address const& address);

    /// stop_listening ends the connections, too, each after the answer that is on its way.
    void stop_listening();

    /// publish replaces the facts. Until the first ones requests get 503.
    void publish(std::shared_ptr<admin_facts const> facts);

    /// begin_drain: from now on /readyz says 503.
    void begin_drain() noexcept;

    /// next_command is a command that has come, or null.
    [[nodiscard]] std::unique_ptr<admin_command> next_command() noexcept;

private:
    struct state;

    std::unique_ptr<state> state_;
};

} // namespace cleat::app
