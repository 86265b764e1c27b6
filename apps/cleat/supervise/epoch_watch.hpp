// epoch_watch: what the main thread does at the end of an epoch of ticket-ratchet.

#pragma once

#include "log/log.hpp"
#include "tickets/ticket_file_counts.hpp"
#include "workers/worker_group.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace cleat::app {

/// epoch_watch moves on the ratchets in the file of ticket-secret, in the configurations and in the
/// workers. The main thread uses it, and waits for the disk while the file is written.
class epoch_watch
{
public:
    using clock = std::chrono::steady_clock;

    /// Both outlive it. Relative paths begin in `folder`.
    epoch_watch(worker_group& workers, std::string const& folder) noexcept
        : workers_{workers}, folder_{folder}
    {
    }

    /// look does what is due. A file that cannot be written, or has a state that cannot be moved
    /// on, is logged and counted, and written at the next look; one that another process writes is
    /// logged only when that is so again. is_reloading: a reload is under way. Throws
    /// std::bad_alloc.
    void look(logger const& log, bool is_reloading);

    /// next_look is when to look again, also where nothing else happens.
    [[nodiscard]] clock::time_point next_look() const noexcept { return next_look_; }

    /// counts is never null.
    [[nodiscard]] std::shared_ptr<ticket_file_counts const> counts() const noexcept
    {
        return counts_;
    }

private:
    bool write(config const& settings, std::int64_t oldest, logger const& log);

    worker_group& workers_;
    std::string const& folder_;
    std::uint64_t written_for_ = 0;  // The number of a configuration; 0: none.
    std::uint64_t tried_for_ = 0;    // The same.
    std::int64_t written_ = -1;      // The epoch to which its file has moved on.
    bool was_busy_ = false;          // Another process has written at the last look.
    clock::time_point next_write_{}; // After a failure.
    std::shared_ptr<ticket_file_counts> counts_ = std::make_shared<ticket_file_counts>();
    clock::time_point next_look_ = clock::time_point::max();
};

} // namespace cleat::app
