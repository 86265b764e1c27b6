#include "generate/http_answer.hpp"
#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <cstddef>

namespace cleat::fuzz {
namespace {

using state = enum bench::http_answer::state;

// The bytes that belong to the answer.
std::size_t take_all(bench::http_answer& answer, octets sent, std::size_t part)
{
    std::size_t taken = 0;
    for (input_reader from{sent}; !from.is_empty() && answer.state() == state::more;) {
        octets const some = from.take(part);
        std::size_t const used = answer.take(text_of(some));
        CLEAT_ASSERT(used <= some.size());
        CLEAT_ASSERT(used == some.size() || answer.state() != state::more);
        taken += used;
    }
    return taken;
}

} // namespace

// The first byte is the size of the parts in which a server's answer comes.
void http_answer(octets input)
{
    input_reader from{input};
    std::size_t const part = 1 + from.number(1);
    octets const sent = from.rest();
    bench::http_answer whole{false, "needle"};
    bench::http_answer in_parts{false, "needle"};
    std::size_t const taken = take_all(whole, sent, sent.size());
    std::size_t const taken_in_parts = take_all(in_parts, sent, part);
    whole.end();
    in_parts.end();
    CLEAT_ASSERT(whole.state() == in_parts.state());
    if (whole.state() != state::whole)
        return;
    CLEAT_ASSERT(taken == taken_in_parts);
    CLEAT_ASSERT(whole.status() == in_parts.status() && whole.body() == in_parts.body());
    CLEAT_ASSERT(whole.has_text() == in_parts.has_text());
}

} // namespace cleat::fuzz
