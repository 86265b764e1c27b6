// opener_watch: notices the end of the process that opens root's files, and logs it once.

#pragma once

#include "log/log.hpp"
#include "privileged/opener.hpp"

namespace cleat::app {

/// opener_watch is used by the main thread. The opener outlives it.
class opener_watch
{
public:
    explicit opener_watch(opener const& root_files) noexcept : root_files_{root_files} {}

    /// native_handle gets POLLHUP at the end, without being asked for an event. -1: there is
    /// nothing to wait for.
    [[nodiscard]] int native_handle() const noexcept
    {
        return is_logged_ ? -1 : root_files_.native_handle();
    }

    /// look logs `opener-ended` if that is the case.
    void look(logger const& log)
    {
        if (is_logged_ || root_files_.present_state() != opener::state::ended)
            return;
        is_logged_ = true;
        log.warning("opener-ended")
            .add("effect", "a reload reads files and opens ports with the rights of cleat's user")
            .add("cure", "restart cleat to have it again");
    }

private:
    opener const& root_files_;
    bool is_logged_ = false;
};

} // namespace cleat::app
