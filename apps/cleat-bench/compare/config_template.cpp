#include "compare/config_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cleat::bench {
namespace {

bool is_name(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
}

struct template_position
{
    std::string_view origin;
    int line;
};

std::string const& value_of(
    std::string_view name, template_values const& values, template_position position)
{
    auto const found = values.find(name);
    if (found == values.end())
        throw std::runtime_error{
            fmt::format("{}:{}: there is no value for {}", position.origin, position.line, name)};
    return found->second;
}

// Reduces a line "#with NAME: REST" to REST. False if the line is to be left out.
bool apply_condition(
    std::string_view& line, std::string_view prefix, bool wanted, template_values const& values,
    template_position position)
{
    if (!line.starts_with(prefix))
        return true;
    std::string_view const rest = line.substr(prefix.size());
    std::size_t const colon = rest.find(": ");
    if (colon == std::string_view::npos || !is_name(rest.substr(0, colon)))
        return true; // An ordinary comment.
    line = rest.substr(colon + 2);
    return value_of(rest.substr(0, colon), values, position).empty() != wanted;
}

void append_filled(
    std::string& text, std::string_view line, template_values const& values,
    template_position position)
{
    while (!line.empty()) {
        std::size_t const open = line.find('@');
        text += line.substr(0, open);
        if (open == std::string_view::npos)
            return;
        line.remove_prefix(open + 1);
        std::size_t const close = line.find('@');
        if (close == std::string_view::npos || !is_name(line.substr(0, close))) {
            text += '@';
            continue;
        }
        text += value_of(line.substr(0, close), values, position);
        line.remove_prefix(close + 1);
    }
}

template <class F>
void for_each_line(std::string_view text, F&& f)
{
    for (int number = 1; !text.empty(); ++number) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        f(text.substr(0, end), number);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

} // namespace

std::string fill_template(
    std::string_view text, std::string_view origin, template_values const& values)
{
    std::string filled;
    for_each_line(text, [&](std::string_view line, int number) {
        template_position const position{origin, number};
        if (!apply_condition(line, "#with ", true, values, position) ||
            !apply_condition(line, "#without ", false, values, position))
            return;
        append_filled(filled, line, values, position);
        filled += '\n';
    });
    return filled;
}

std::string without_comments(std::string_view config)
{
    std::string left;
    for_each_line(config, [&](std::string_view line, int) {
        std::size_t const first = line.find_first_not_of(" \t");
        if (first == std::string_view::npos || line[first] == '#')
            return;
        left += line;
        left += '\n';
    });
    return left;
}

} // namespace cleat::bench
