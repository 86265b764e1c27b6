// reload_askers: the commands and requests that wait for the outcome of a reload.

#pragma once

#include "admin/admin_server.hpp"
#include "process/control_socket.hpp"
#include "reload/reload_outcome.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace cleat::app {

/// reload_askers is used by the main thread. A command that comes while a reload is under way is
/// answered by the next one, which sees what has changed meanwhile.
class reload_askers
{
public:
    /// control outlives it.
    explicit reload_askers(control_socket const& control) noexcept : control_{control} {}

    /// make_room takes the memory of the next add. Throws std::bad_alloc.
    void make_room() { next_.reserve(next_.size() + 1); }

    /// add lets a command, or a request to the admin server, wait from now on. Throws
    /// std::bad_alloc, and leaves `asked` as it is, unless there is room.
    void add(control_socket::command&& asked);
    void add(std::unique_ptr<admin_command>&& asked);

    /// begin: those who have asked so far wait for the reload that begins. Throws std::bad_alloc,
    /// with nothing changed.
    void begin();

    /// answer gives them the outcome; is_ending: cleat takes no other reload. Throws
    /// std::bad_alloc; another call goes on with those who have no answer.
    void answer(reload_outcome const& outcome, bool is_ending);

private:
    struct asker // One of both.
    {
        std::optional<control_socket::command> command{};
        std::unique_ptr<admin_command> request{};
    };

    control_socket const& control_;
    std::vector<asker> next_;    // They wait for the next reload,
    std::vector<asker> present_; // and these for the one under way.
};

} // namespace cleat::app
