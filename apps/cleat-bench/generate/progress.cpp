#include "generate/progress.hpp"

namespace cleat::bench {

void add(progress& sum, progress const& more)
{
    sum.attempts += more.attempts;
    sum.ok += more.ok;
    for (auto const& [failure, count] : more.failures)
        sum.failures[failure] += count;
    sum.in_flight += more.in_flight;
    sum.response.merge(more.response);
    sum.slip.merge(more.slip);
    add(sum.timeline, more.timeline);
    add(sum.by_start, more.by_start);
    sum.cpu += more.cpu;
}

} // namespace cleat::bench
