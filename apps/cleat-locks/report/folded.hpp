// folded: call stacks in formats of other programs.

#pragma once

#include "report/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::locks {

/// measure is one of the counts; they are never added up.
enum class measure : std::uint8_t
{
    blocked, ///< Microseconds blocked on locks.
    waiting, ///< Microseconds waiting for conditions, semaphores and once.
    acquisitions,
    contended,
    cpu,          ///< Samples of CPU time.
    lock_cpu,     ///< Samples inside lock functions.
    reference_cpu ///< Samples on reference counts.
};

/// measure_named reads "blocked", "lock-cpu" and so on.
[[nodiscard]] std::optional<measure> measure_named(std::string_view name);
[[nodiscard]] std::vector<std::string> measure_names();
[[nodiscard]] std::string_view name_of(measure measured) noexcept;
[[nodiscard]] std::uint64_t value_of(weights const& counts, measure measured) noexcept;

/// folded_text is a line for each stack with a count: "main;serve;lock 123", the outermost function
/// first, as flame graph programs read it.
[[nodiscard]] std::string folded_text(profile const& recorded, measure measured);

/// pprof_bytes is all measures in the format of pprof: gzip over its protocol buffer,
/// profile.proto.
[[nodiscard]] std::string pprof_bytes(profile const& recorded);

} // namespace cleat::locks
