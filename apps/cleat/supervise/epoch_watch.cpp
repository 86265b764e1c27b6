#include "privileged/permissions.hpp"
#include "supervise/epoch_watch.hpp"
#include "tickets/ratchet_file.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/ticket_ratchet.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace cleat::app {

void epoch_watch::look(logger const& log, bool is_reloading)
{
    auto const now = std::chrono::system_clock::now();
    config const& settings = workers_.present().configuration->settings;
    if (*settings.ticket_ratchet && !settings.ticket_secret->empty()) {
        std::int64_t const oldest =
            tls::oldest_ticket_epoch(*settings.ticket_epoch, *settings.ticket_lifetime, now);
        bool const is_due = written_for_ != workers_.present_number() || written_ != oldest;
        std::uint64_t const tried_before = std::exchange(tried_for_, workers_.present_number());
        if (tried_before != tried_for_) {
            next_write_ = {}; // The pause was for the file of the configuration before.
            was_busy_ = false;
        }
        if (is_due && clock::now() >= next_write_ && write(settings, oldest, log)) {
            written_for_ = workers_.present_number();
            written_ = oldest;
        }
    }
    // Memory follows the file, also where that cannot be written.
    std::optional<std::chrono::system_clock::time_point> const end =
        workers_.end_ticket_epochs(now, is_reloading);
    next_look_ = clock::time_point::max();
    if (end)
        next_look_ = clock::now() + std::min<std::chrono::system_clock::duration>(
                                        *end - now, limits::ticket_epoch_look);
}

bool epoch_watch::write(config const& settings, std::int64_t oldest, logger const& log)
{
    std::string const path = absolute_path(folder_, *settings.ticket_secret);
    file_rewriting const written = rewrite_ratchets(path, *settings.ticket_epoch, oldest);
    next_write_ = written.done ? clock::time_point{} : clock::now() + limits::ticket_epoch_look;
    // Another process that writes is done at the next look, unless it hangs.
    if (!written.done && (!written.is_busy || was_busy_)) {
        ++counts_->failures;
        log.error("ticket-state-not-written")
            .add("file", path)
            .add("reason", written.text)
            .add("cure", written.cure);
    }
    was_busy_ = written.is_busy;
    return written.done;
}

} // namespace cleat::app
