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
live_view::live_view(load_spec const& use, std::vector<int> server_pids)
    : use_{use}, server_pids_{std::move(server_pids)}, terminal_{on_terminal()}
{
    if (!server_pids_.empty())
        last_server_cpu_ = cpu_of(server_pids_);
}

live_view::~live_view()
{
    erase();
}

bool live_view::on_terminal() noexcept
{
    return ::isatty(STDERR_FILENO) == 1;
}

void live_view::erase()
{
    if (lines_ != 0)
        complain("\x1b[{}A\x1b[J", lines_);
    lines_ = 0;
}

void live_view::show(glimpse const& seen)
{
    using namespace std::chrono_literals;
    double const all = in_seconds(use_.duration);
    double const now = in_seconds(seen.since_begin);
    double const since = std::max(in_seconds(seen.since_begin - last_time_), 1e-9);
    double const rate = static_cast<double>(seen.ok - last_ok_) / since;
    double const busy = in_seconds(seen.cpu - last_cpu_) / since;
    std::uint64_t failed = 0;
    for (auto const& [what, count] : seen.failures)
        failed += count;

    std::string asked;
    if (auto const* const o = std::get_if<open>(&use_.arrive))
        asked = fmt::format(
            " of {:.0f}/s asked",
            pacer{o->phases, o->how}.rate_at(seen.since_begin + use_.warm_up));
    std::string server;
    if (!server_pids_.empty()) {
        auto const cpu = cpu_of(server_pids_);
        server = fmt::format(", server {:.2f}", in_seconds(cpu - last_server_cpu_) / since);
        last_server_cpu_ = cpu;
    }
    // What ends by number has a length of time only so that it ends at all.
    std::string const progress =
        use_.transactions
            ? fmt::format("{:5.1f} s, {} of {}", now, seen.ok + failed, *use_.transactions)
            : fmt::format("{:5.1f} of {:.0f} s", now, all);
    std::string const head = now < 0 ? fmt::format("warming up, {:.0f} s to go", -now)
                                     : fmt::format(
                                           "{}  {:.0f}/s{}, {} in flight, {} failed", progress,
                                           rate, asked, seen.in_flight, failed);
    std::string const more = fmt::format(
        "response p50 {}, p99 {}; slip p99 {}; cores busy: generator {:.2f}{}",
        in_words(static_cast<double>(seen.response.percentile(50))),
        in_words(static_cast<double>(seen.response.percentile(99))),
        in_words(static_cast<double>(seen.slip.percentile(99))), busy, server);
    if (!terminal_) {
        complain("{}; {}\n", head, more);
    } else {
        std::string text = head + "\x1b[K\n" + more + "\x1b[K\n";
        int lines = 2;
        for (auto const& [what, count] : seen.failures) {
            if (++lines > 8)
                break;
            text += fmt::format("  {} {}: {}\x1b[K\n", name_of(what.where), what.kind, count);
        }
        erase();
        complain("{}", text);
        lines_ = std::min(lines, 8);
    }
    std::fflush(stderr);
    last_time_ = seen.since_begin;
    last_ok_ = seen.ok;
    last_cpu_ = seen.cpu;
}

} // namespace cleat::bench
