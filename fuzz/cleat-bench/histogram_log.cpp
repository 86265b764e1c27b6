#include "generate/histogram.hpp"
#include "result/histogram_log.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

namespace cleat::fuzz {
namespace {

constexpr std::uint64_t value_max = 3'600'000'000'000; // An hour in nanoseconds.

} // namespace

// The input is a histogram in a result: base64 of DEFLATE.
void histogram_log(octets input)
{
    bench::histogram read{value_max};
    if (!bench::add_log(text_of(input), read))
        return;
    bench::histogram again{value_max};
    CLEAT_ASSERT(bench::add_log(bench::to_log(read), again));
    CLEAT_ASSERT(again.count() == read.count());
}

} // namespace cleat::fuzz
