#include "admin/accept_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace cleat::app {
namespace {

// Optional white space (RFC 9110, section 5.6.3) is blanks and tabs.
std::string_view without_white_space(std::string_view text) noexcept
{
    constexpr std::string_view blanks = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// The next part before the separator, which is removed from the text.
std::string_view take_part(std::string_view& text, char separator) noexcept
{
    std::size_t const end = text.find(separator);
    std::string_view const part = without_white_space(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return part;
}

// The weight of a media range's parameters: 1 without a `q`, and 0 for one that is none.
double weight_in(std::string_view parameters) noexcept
{
    while (!parameters.empty()) {
        std::string_view const each = take_part(parameters, ';');
        if (!each.starts_with("q=") && !each.starts_with("Q="))
            continue;
        double weight = 0;
        std::from_chars(each.data() + 2, each.data() + each.size(), weight);
        return weight;
    }
    return 1;
}

} // namespace

double weight_of(std::string_view media_type, std::string_view accept) noexcept
{
    double highest = 0;
    while (!accept.empty()) {
        std::string_view range = take_part(accept, ',');
        if (take_part(range, ';') == media_type)
            highest = std::max(highest, weight_in(range));
    }
    return highest;
}

bool prefers_html(std::string_view accept) noexcept
{
    double const html = weight_of("text/html", accept);
    return html > 0 && html >= weight_of("text/plain", accept);
}

} // namespace cleat::app
