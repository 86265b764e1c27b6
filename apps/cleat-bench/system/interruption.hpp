// interruption: signals that end a subcommand between two steps of its work.

#pragma once

#include <csignal>
#include <stdexcept>

namespace cleat::bench {

/// interruption holds SIGINT, SIGTERM and SIGHUP back while it lives, so that a signal cannot end
/// the program while servers that it started are running. Made before there are threads.
class interruption
{
public:
    interruption() noexcept;
    interruption(interruption&&) = delete;
    ~interruption();

    /// asked: one of the signals has come.
    [[nodiscard]] bool asked() noexcept;

    /// note records a signal that a run has received.
    void note() noexcept { asked_ = true; }

    /// before is the signal mask from before, for the programs that are started.
    [[nodiscard]] sigset_t const& before() const noexcept { return before_; }

private:
    sigset_t held_{};
    sigset_t before_{};
    bool asked_ = false;
};

/// interrupted is thrown when a signal came during a wait.
struct interrupted : std::runtime_error
{
    interrupted() : std::runtime_error{"interrupted"} {}
};

} // namespace cleat::bench
