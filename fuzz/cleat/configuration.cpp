#include "config/check.hpp"
#include "config/config.hpp"
#include "config/parser.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <string>
#include <vector>

namespace cleat::fuzz {
namespace {

void read(std::string_view text, app::dialect dialect)
{
    app::config settings;
    std::vector<app::problem> problems;
    app::parse_config(text, "cleat.conf", dialect, settings, problems);
    app::check(settings, problems);
    for (app::problem const& each : problems) {
        CLEAT_ASSERT(!each.text.empty());
        CLEAT_ASSERT(!app::to_string(each).empty());
    }
    if (!app::has_errors(problems))
        CLEAT_ASSERT(!settings.frontends.empty());
}

} // namespace

// The input is a configuration file, in each of the dialects.
void configuration(octets input)
{
    read(text_of(input), app::dialect::hitch);
    read(text_of(input), app::dialect::stud);
}

} // namespace cleat::fuzz
