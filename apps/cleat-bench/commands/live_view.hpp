// live_view: the progress of a load on a terminal.

#pragma once

#include "generate/load_spec.hpp"
#include "generate/progress.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cleat::bench {

/// live_view redraws a few lines on stderr if that is a terminal; otherwise each call of `show`
/// prints one line. Its end clears the lines of a terminal. The spec must outlive it.
class live_view
{
public:
    /// `generators` is how many machines have this load each.
    live_view(load_spec const& spec, std::vector<int> server_pids, std::size_t generators = 1);
    live_view(live_view&&) = delete;
    ~live_view();

    void show(progress const& now);

    [[nodiscard]] static bool has_terminal() noexcept;

private:
    void redraw(std::vector<std::string> const& lines);
    void erase();

    load_spec const& spec_;
    std::vector<int> server_pids_;
    std::size_t generators_;
    bool terminal_;
    int lines_ = 0;
    std::chrono::nanoseconds last_time_{};
    std::uint64_t last_ok_ = 0;
    std::chrono::nanoseconds last_cpu_{};
    std::chrono::nanoseconds last_server_cpu_{};
};

} // namespace cleat::bench
