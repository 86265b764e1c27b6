// live_view: what a terminal shows while a load runs.

#pragma once

#include "generate/run.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// live_view redraws a few lines on stderr, where that is a terminal; otherwise it prints one line
/// now and then. It clears itself away at the end.
class live_view
{
public:
    live_view(load_spec const& use, std::vector<int> server_pids);
    live_view(live_view&&) = delete;
    ~live_view();

    void show(glimpse const& seen);

    [[nodiscard]] static bool on_terminal() noexcept;

private:
    void erase();

    load_spec const& use_;
    std::vector<int> server_pids_;
    bool terminal_;
    int lines_ = 0;
    std::chrono::nanoseconds last_time_{};
    std::uint64_t last_ok_ = 0;
    std::chrono::nanoseconds last_cpu_{};
    std::chrono::nanoseconds last_server_cpu_{};
};

} // namespace cleat::bench
