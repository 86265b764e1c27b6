#include "system/cpu_quota.hpp"
#include "system/ration.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace cleat::bench {

double parse_ration(std::string const& text, std::size_t cores)
{
    std::string_view digits{text};
    bool const percent = digits.ends_with('%');
    if (percent)
        digits.remove_suffix(1);
    double found = 0;
    auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), found);
    bool const is_number = read.ec == std::errc{} && read.ptr == digits.data() + digits.size();
    if (percent)
        found /= 100;
    if (!is_number || !(found >= cpu_quota::cores_min && found <= static_cast<double>(cores)))
        refuse_usage(fmt::format(
            "--server-cpu {}: cores from {} to {}, which the server has, like 0.3", text,
            cpu_quota::cores_min, cores));
    return found;
}

} // namespace cleat::bench
