#include "commands/live_view.hpp"
#include "standard_error.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace cleat::bench {

namespace {

constexpr std::size_t view_lines_max = 8;
constexpr std::size_t columns_usual = 80;

// The columns of the terminal.
std::size_t view_columns() noexcept
{
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return columns_usual;
    return size.ws_col;
}

} // namespace

live_view::live_view(load_spec const& spec, std::vector<int> server_pids, std::size_t generators)
    : spec_{spec}
    , server_pids_{std::move(server_pids)}
    , generators_{generators}
    , terminal_{has_terminal()}
{
    if (!server_pids_.empty())
        last_server_cpu_ = cpu_of(server_pids_);
}

live_view::~live_view()
{
    erase();
}

bool live_view::has_terminal() noexcept
{
    return ::isatty(STDERR_FILENO) == 1;
}

// A line that a terminal breaks would be two, and erase would leave one of them.
void live_view::redraw(std::vector<std::string> const& lines)
{
    std::string text;
    for (std::string const& line : lines)
        text += line.substr(0, view_columns()) + "\x1b[K\n";
    erase();
    complain("{}", text);
    lines_ = static_cast<int>(lines.size());
}

void live_view::erase()
{
    if (lines_ != 0)
        complain("\x1b[{}A\x1b[J", lines_);
    lines_ = 0;
}

void live_view::show(progress const& now)
{
    using namespace std::chrono_literals;
    double const all = in_seconds(spec_.duration);
    double const time = in_seconds(now.since_begin);
    double const elapsed = std::max(in_seconds(now.since_begin - last_time_), 1e-9);
    double const rate = static_cast<double>(now.ok - last_ok_) / elapsed;
    double const busy = in_seconds(now.cpu - last_cpu_) / elapsed;
    std::uint64_t failed = 0;
    for (auto const& [failure, count] : now.failures)
        failed += count;

    auto const times_all = static_cast<double>(generators_);
    std::string asked;
    if (auto const* const loop = std::get_if<open>(&spec_.loop)) {
        pacer const plan{loop->phases, loop->spacing};
        double const due = plan.expected_until(now.since_begin + spec_.warm_up) -
                           plan.expected_until(last_time_ + spec_.warm_up);
        asked = fmt::format(" of {:.0f}/s asked", due / elapsed * times_all);
    } else if (std::optional<double> const mean = rate_asked(spec_))
        asked = fmt::format(" of {:.0f}/s asked", *mean * times_all);
    std::string server;
    if (!server_pids_.empty()) {
        auto const cpu = cpu_of(server_pids_);
        server = fmt::format(", server {:.2f}", in_seconds(cpu - last_server_cpu_) / elapsed);
        last_server_cpu_ = cpu;
    }
    // A load of a given number of transactions has a duration only as a limit.
    std::string const done = spec_.transactions ? fmt::format(
                                                      "{:5.1f} s, {} of {}", time, now.ok + failed,
                                                      *spec_.transactions * generators_)
                                                : fmt::format("{:5.1f} of {:.0f} s", time, all);
    std::string const head = time < 0 ? fmt::format("warming up, {:.0f} s to go", -time)
                                      : fmt::format(
                                            "{}  {:.0f}/s{}, {} in flight, {} failed", done, rate,
                                            asked, now.in_flight, failed);
    auto const percentile = [&](double p) {
        auto const found = now.response.percentile_of(p, now.response.count() + failed);
        return found ? in_words(static_cast<double>(*found)) : std::string{"-"};
    };
    std::string const times = fmt::format(
        "response p50 {}, p99 {}; slip p99 {}", percentile(50), percentile(99),
        in_words(static_cast<double>(now.slip.percentile(99))));
    std::string const cores = fmt::format("cores busy: generator {:.2f}{}", busy, server);
    if (!terminal_) {
        complain("{}; {}; {}\n", head, times, cores);
    } else {
        std::vector<std::string> lines{head, times + "; " + cores};
        if (lines.back().size() > view_columns())
            lines = {head, times, cores};
        for (auto const& [failure, count] : now.failures)
            if (lines.size() < view_lines_max)
                lines.push_back(
                    fmt::format("  {} {}: {}", name_of(failure.stage), failure.kind, count));
        redraw(lines);
    }
    std::fflush(stderr);
    last_time_ = now.since_begin;
    last_ok_ = now.ok;
    last_cpu_ = now.cpu;
}

} // namespace cleat::bench
