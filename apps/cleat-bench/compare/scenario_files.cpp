#include "compare/scenario_files.hpp"
#include "scenario_table.hpp"
#include "system/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace cleat::bench {

std::vector<std::string> scenario_names()
{
    std::vector<std::string> found;
    for (scenario_file const& each : scenario_table)
        found.emplace_back(each.name);
    return found;
}

scenario_spec find_scenario(std::string const& name_or_file)
{
    for (scenario_file const& each : scenario_table)
        if (each.name == name_or_file)
            return parse_scenario(std::string{each.text()}, fmt::format("{}.scenario", each.name));
    if (name_or_file.find('/') == std::string::npos && !name_or_file.ends_with(".scenario"))
        throw std::runtime_error{fmt::format(
            "there is no scenario '{}': take one of {}, or write the path of a file", name_or_file,
            fmt::join(scenario_names(), ", "))};
    return parse_scenario(read_file(name_or_file), name_or_file);
}

} // namespace cleat::bench
