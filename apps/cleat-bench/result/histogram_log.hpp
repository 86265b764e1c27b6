// histogram_log: a histogram as text, in the format of HdrHistogram's logs.

#pragma once

#include "generate/histogram.hpp"

#include <string>
#include <string_view>

namespace cleat::bench {

/// to_log encodes counts as HdrHistogram does (V2, compressed with DEFLATE, base64): its tools and
/// libraries in any language read it.
[[nodiscard]] std::string to_log(histogram const& source);

/// add_log adds the counts of a text that to_log wrote to `sum`. Buckets are exact; min, max and
/// mean are those of the buckets. False, and nothing added, when it is no such text, or has other
/// digits or values beyond value_max.
[[nodiscard]] bool add_log(std::string_view text, histogram& sum);

} // namespace cleat::bench
