// change_watch: the files of the present configuration, what has changed in them, and when that
// leads to a reload.

#pragma once

#include "log/log.hpp"
#include "reload/reload_outcome.hpp"
#include "watch/change_trigger.hpp"
#include "watch/file_watch.hpp"

#include <array>
#include <memory>
#include <optional>

namespace cleat::app {

/// change_watch is used by the main thread. It watches nothing without reload-on-change.
class change_watch
{
public:
    using clock = change_trigger::clock;

    /// follow watches what the last reload has read, once it is done or refused. The start counts
    /// as a reload that is done.
    void follow(snapshot const& present, reload_outcome const& last, logger const& log);

    /// stop watches nothing any more.
    void stop() noexcept;

    /// native_handles are readable when something has changed; -1 where the kernel does not watch.
    [[nodiscard]] std::array<int, 2> native_handles() const noexcept;

    /// next_look is when to call look although nothing is readable. No reload is under way.
    [[nodiscard]] std::optional<clock::time_point> next_look() const noexcept;
    [[nodiscard]] std::optional<clock::time_point> next_comparison() const noexcept;

    /// look takes note of changes.
    void look(clock::time_point now);

    /// is_due: changes lead to a reload now.
    [[nodiscard]] bool is_due(clock::time_point now) const noexcept;

    /// begin_due takes the reload that is due. True: its refusal is final.
    [[nodiscard]] bool begin_due(clock::time_point now) noexcept { return !trigger_.begin(now); }

    /// hand_over is the changes for a reload that begins. An operator who asks for one may know
    /// more than the kernel: another machine may have changed a file.
    [[nodiscard]] file_changes hand_over(bool by_operator);

private:
    void watch(snapshot const& present, reload_outcome const& last, logger const& log);

    void stop_watching() noexcept;
    [[nodiscard]] file_changes take_changes() const;

    // Null: nothing. Of the configuration in service, and of one that was refused after it.
    std::shared_ptr<watch_plan const> present_;
    std::shared_ptr<watch_plan const> refused_;
    change_trigger trigger_;
    file_changes changed_;     // Since the present configuration was made, or
    file_changes handed_over_; // before the reload under way began.
};

} // namespace cleat::app
