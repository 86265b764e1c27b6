#include "report/off_cpu.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <stdexcept>
#include <string>

namespace cleat::fuzz {

// The input is PID.waits, beside a trace; its lines may be those of /proc, too.
void waits(octets input)
{
    std::string const text{text_of(input)};
    locks::kernel_place const place = locks::parse_kernel_place(text.substr(0, text.find('\n')));
    CLEAT_ASSERT(!locks::call_name(place.call).empty());
    try {
        locks::off_cpu_record const read = locks::parse_off_cpu(text);
        locks::off_cpu_record const again = locks::parse_off_cpu(locks::text_of(read));
        CLEAT_ASSERT(again.waits == read.waits && again.samples == read.samples);
    } catch (std::runtime_error const& refused) {
        CLEAT_ASSERT(*refused.what() != '\0');
    }
}

} // namespace cleat::fuzz
