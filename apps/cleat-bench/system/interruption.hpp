// interruption: somebody wants the comparison to end.

#pragma once

#include <csignal>
#include <stdexcept>

namespace cleat::bench {

/// interruption holds SIGINT, SIGTERM and SIGHUP back while it lives, so that nobody dies with
/// servers running. Made before there are threads.
class interruption
{
public:
    interruption() noexcept;
    interruption(interruption&&) = delete;
    ~interruption();

    /// asked says whether one came, from then on.
    [[nodiscard]] bool asked() noexcept;

    /// note: somebody else has taken the signal.
    void note() noexcept { asked_ = true; }

    /// before is the mask that programs are to be started with.
    [[nodiscard]] sigset_t const& before() const noexcept { return before_; }

private:
    sigset_t held_{};
    sigset_t before_{};
    bool asked_ = false;
};

/// interrupted: somebody wanted the end while something was waited for.
struct interrupted : std::runtime_error
{
    interrupted() : std::runtime_error{"interrupted"} {}
};

} // namespace cleat::bench
