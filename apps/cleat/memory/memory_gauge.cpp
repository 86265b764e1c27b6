#include "memory/memory_gauge.hpp"

#include <cleat/core/memory_group.hpp>

#include <optional>
#include <utility>

namespace cleat::app {

std::function<std::uint64_t()> memory_gauge()
{
    if (std::optional<memory_group> group = find_memory_group())
        return [group = *std::move(group)] { return memory_in_use(group).value_or(0); };
    return [] { return resident_memory().value_or(0); };
}

} // namespace cleat::app
