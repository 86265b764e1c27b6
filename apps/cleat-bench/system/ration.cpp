#include "system/cpu_quota.hpp"
#include "system/ration.hpp"
#include "text/numbers.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <optional>

namespace cleat::bench {

double parse_ration(std::string const& text, std::size_t cores)
{
    std::optional<double> found = parse_number(text);
    if (!found)
        found = parse_percent(text);
    if (!found || *found < cpu_quota::cores_min || *found > static_cast<double>(cores))
        refuse_usage(fmt::format(
            "--server-cpu {}: cores from {} to {}, which the server has, like 0.3", text,
            cpu_quota::cores_min, cores));
    return *found;
}

} // namespace cleat::bench
