#include "input_reader.hpp"
#include "targets.hpp"
#include "wire/flight.hpp"

#include <cleat/core/assert.hpp>

#include <cstddef>

namespace cleat::fuzz {

// The first byte is the size of the parts in which a server's first flight comes.
void server_flight(octets input)
{
    input_reader from{input};
    std::size_t const part = 1 + from.number(1);
    octets const sent = from.rest();
    bench::wire::flight whole;
    whole.add(text_of(sent));
    bench::wire::flight in_parts;
    for (input_reader rest{sent}; !rest.is_empty();)
        in_parts.add(text_of(rest.take(part)));
    CLEAT_ASSERT(whole.malformed() == in_parts.malformed());
    CLEAT_ASSERT(whole.complete() == in_parts.complete());
    CLEAT_ASSERT(whole.certificates() == in_parts.certificates());
    CLEAT_ASSERT(whole.hello().has_value() == in_parts.hello().has_value());
}

} // namespace cleat::fuzz
