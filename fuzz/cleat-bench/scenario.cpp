#include "compare/scenario.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <stdexcept>
#include <string>

namespace cleat::fuzz {

// The input is the file of a scenario.
void scenario(octets input)
{
    std::string const text{text_of(input)};
    try {
        bench::scenario_spec const read = bench::parse_scenario(text, "fuzzed.scenario");
        CLEAT_ASSERT(read.connections != 0);
        CLEAT_ASSERT(!bench::operation_name(read).empty());
    } catch (std::runtime_error const& refused) {
        CLEAT_ASSERT(std::string{refused.what()}.starts_with("fuzzed.scenario"));
    }
}

} // namespace cleat::fuzz
