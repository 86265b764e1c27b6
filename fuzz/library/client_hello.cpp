#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

namespace cleat::fuzz {
namespace {

using reader = tls::client_hello_reader;

bool is_inside(std::span<std::uint8_t const> part, octets whole) noexcept
{
    return part.empty() || (part.data() >= whole.data() &&
                            part.data() + part.size() <= whole.data() + whole.size());
}

} // namespace

// The first byte is the size of the parts in which the bytes come; the rest is what a client sends.
void client_hello(octets input)
{
    input_reader from{input};
    std::size_t const part = 1 + from.number(1);
    octets const sent = from.rest();

    reader whole;
    reader::status const once = whole.read(sent);
    reader in_parts;
    for (input_reader rest{sent}; !rest.is_empty();)
        static_cast<void>(in_parts.read(rest.take(part)));
    reader::status const split = in_parts.read({});
    CLEAT_ASSERT(once == split || sent.empty());
    if (once != reader::status::complete)
        return;
    CLEAT_ASSERT(whole.message().size() + 4 <= limits::client_hello_max);
    std::string_view const name = whole.facts().server_name;
    CLEAT_ASSERT(name == in_parts.facts().server_name);
    CLEAT_ASSERT(is_inside(
        {reinterpret_cast<std::uint8_t const*>(name.data()), name.size()}, whole.message()));
    CLEAT_ASSERT(is_inside(whole.facts().protocols, whole.message()));
}

} // namespace cleat::fuzz
