#include "manual/completions.hpp"

#include <algorithm>

namespace cleat::manual {
namespace {

void add_options(completed_command& made, command const& about, bool is_other)
{
    for (section const& part : about.sections)
        for (option const& each : part.options)
            if (!is_other || !each.is_of_one)
                (each.is_positional() ? made.places : made.flags).push_back(each);
}

} // namespace

std::vector<completed_command> completed_commands(page const& about)
{
    std::vector<completed_command> made;
    for (command const& each : about.commands) {
        completed_command& one =
            made.emplace_back(completed_command{.name = each.name, .summary = each.summary});
        add_options(one, each, false);
        if (each.is_like_program)
            add_options(one, about.commands.front(), true);
    }
    return made;
}

std::string function_name(std::string_view program)
{
    std::string out = "_" + std::string{program};
    std::ranges::replace(out, '-', '_');
    return out;
}

} // namespace cleat::manual
