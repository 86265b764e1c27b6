#include "load.hpp"
#include "report.hpp"
#include "times.hpp"
#include "transfer.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace cleat::bench {

int transfer(do_transfer const& wish)
{
    do_load const& base = wish.load;
    check_writable(base.to);
    result found = begin_result(base);
    run_into(found, base);

    double const time = in_seconds(found.measured);
    double const moved =
        static_cast<double>(found.counts.ok * wish.size) * (wish.up && wish.down ? 2 : 1);
    auto const per_gb = [&](std::chrono::nanoseconds cpu) {
        return moved == 0 ? 0 : in_seconds(cpu) / (moved / 1e9);
    };
    fmt::print(
        "{}: {} messages of {} {} in {:.3f} s: {:.1f} MB/s\n"
        "CPU of the generator: {:.3f} s per GB\n",
        found.target, found.counts.ok, bytes_in_words(static_cast<double>(wish.size)),
        wish.up && wish.down ? "both ways"
        : wish.up            ? "up"
                             : "down",
        time, moved / 1e6 / time, per_gb(found.counts.cpu));
    if (found.server)
        fmt::print("CPU of the server: {:.3f} s per GB\n", per_gb(found.server->cpu));
    fmt::print("\n");
    std::fflush(stdout);
    if (!finish_with(found, base.to))
        return 1;
    return found.partial ? 130 : found.counts.failed() != 0 ? 1 : 0;
}

} // namespace cleat::bench
