#include "commands/live_view.hpp"
#include "standard_error.hpp"
#include "system/processes.hpp"
#include "text/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <unistd.h>

namespace cleat::bench {

live_view::live_view(load_spec const& spec, std::vector<int> server_pids)
    : spec_{spec}, server_pids_{std::move(server_pids)}, terminal_{has_terminal()}
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

    std::string asked;
    if (auto const* const loop = std::get_if<open>(&spec_.loop))
        asked = fmt::format(
            " of {:.0f}/s asked",
            pacer{loop->phases, loop->spacing}.rate_at(now.since_begin + spec_.warm_up));
    std::string server;
    if (!server_pids_.empty()) {
        auto const cpu = cpu_of(server_pids_);
        server = fmt::format(", server {:.2f}", in_seconds(cpu - last_server_cpu_) / elapsed);
        last_server_cpu_ = cpu;
    }
    // A load of a given number of transactions has a duration only as a limit.
    std::string const done =
        spec_.transactions
            ? fmt::format("{:5.1f} s, {} of {}", time, now.ok + failed, *spec_.transactions)
            : fmt::format("{:5.1f} of {:.0f} s", time, all);
    std::string const head = time < 0 ? fmt::format("warming up, {:.0f} s to go", -time)
                                      : fmt::format(
                                            "{}  {:.0f}/s{}, {} in flight, {} failed", done, rate,
                                            asked, now.in_flight, failed);
    std::string const more = fmt::format(
        "response p50 {}, p99 {}; slip p99 {}; cores busy: generator {:.2f}{}",
        in_words(static_cast<double>(now.response.percentile(50))),
        in_words(static_cast<double>(now.response.percentile(99))),
        in_words(static_cast<double>(now.slip.percentile(99))), busy, server);
    if (!terminal_) {
        complain("{}; {}\n", head, more);
    } else {
        std::string text = head + "\x1b[K\n" + more + "\x1b[K\n";
        int lines = 2;
        for (auto const& [failure, count] : now.failures) {
            if (++lines > 8)
                break;
            text += fmt::format("  {} {}: {}\x1b[K\n", name_of(failure.stage), failure.kind, count);
        }
        erase();
        complain("{}", text);
        lines_ = std::min(lines, 8);
    }
    std::fflush(stderr);
    last_time_ = now.since_begin;
    last_ok_ = now.ok;
    last_cpu_ = now.cpu;
}

} // namespace cleat::bench
