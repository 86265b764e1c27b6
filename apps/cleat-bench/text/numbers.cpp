#include "text/lists.hpp"
#include "text/numbers.hpp"

#include <cmath>

namespace cleat::bench {

std::optional<double> take_number(std::string_view& text)
{
    double value = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || !std::isfinite(value) || text.front() == '-')
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return value;
}

std::optional<double> parse_number(std::string_view text)
{
    std::optional<double> const found = take_number(text);
    return text.empty() ? found : std::nullopt;
}

std::optional<double> parse_percent(std::string_view text)
{
    std::optional<double> const percent = take_number(text);
    return percent && trimmed(text) == "%" ? std::optional{*percent / 100} : std::nullopt;
}

} // namespace cleat::bench
