// change_trigger: when files that have changed lead to a reload. Without a clock of its own.

#pragma once

#include <chrono>
#include <optional>

namespace cleat::app {

/// change_trigger lets changes settle, because a renewal writes several files: a reload is due
/// `settle_time` after the last change, and `settle_max` after the first one at the latest.
///
/// A reload that is refused may have seen half of a renewal: a key that does not belong to its
/// certificate yet. Then the next change, or the end of `patience`, makes another one due. Only a
/// refusal after that is final.
class change_trigger
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::chrono::milliseconds settle_time{200};
    static constexpr std::chrono::seconds settle_max{2};
    static constexpr std::chrono::seconds patience{10};

    /// changed: a file has changed.
    void changed(clock::time_point now) noexcept;

    /// due is when a reload is to begin; nothing: there is no reason for one.
    [[nodiscard]] std::optional<clock::time_point> due() const noexcept { return due_; }

    /// begin takes the reload that is due. True: a refusal is not final.
    [[nodiscard]] bool begin(clock::time_point now) noexcept;

    /// refused: the reload that begin took was refused, and that was not final.
    void refused() noexcept;

    /// settled: there is no half of a renewal: a reload has succeeded, or its refusal was final.
    void settled() noexcept;

private:
    std::optional<clock::time_point> due_;
    std::optional<clock::time_point> first_change_;    // Since begin.
    std::optional<clock::time_point> end_of_patience_; // From the first change to settled.
};

} // namespace cleat::app
