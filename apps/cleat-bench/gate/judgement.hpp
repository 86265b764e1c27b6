// judgement: whether a run passed one condition, for text and for machines.

#pragma once

#include <string>
#include <vector>

namespace cleat::bench {

/// judgement of one condition.
struct judgement
{
    std::string condition; ///< "p99 > 50ms"
    std::string value;     ///< "61.2 ms"
    bool failed = false;
};

/// to_text has a line for each failed condition, with the value.
[[nodiscard]] std::string to_text(std::vector<judgement> const& judgements);

/// to_junit is the same as a test suite in the XML that CI systems read. `name` is the suite's.
[[nodiscard]] std::string to_junit(
    std::vector<judgement> const& judgements, std::string const& name, double seconds);

} // namespace cleat::bench
