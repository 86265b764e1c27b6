#include "proxy/inbound_header.hpp"
#include "proxy/proxy_protocol.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace cleat::fuzz {
namespace {

using app::proxy_verdict;

// A reader that has got less of the bytes comes to no other end.
void read_beginnings(octets input, app::proxy_reading const& whole)
{
    for (std::size_t size = 0; size < input.size() && size < 600; ++size) {
        app::proxy_reading const part = app::read_proxy_header(input.first(size));
        if (part.verdict == proxy_verdict::need_more)
            continue;
        CLEAT_ASSERT(part.verdict == whole.verdict && part.fault == whole.fault);
        CLEAT_ASSERT(part.header.size == whole.header.size);
    }
}

void write_again(app::inbound_header const& header)
{
    app::connection_facts facts;
    facts.source = header.source;
    facts.destination = header.destination;
    facts.inbound_tlvs = header.tlvs();
    std::string second;
    CLEAT_ASSERT(!app::append_proxy_v2(second, facts, app::header_checksum::on));
    app::proxy_reading const again = app::read_proxy_header(
        {reinterpret_cast<std::uint8_t const*>(second.data()), second.size()});
    CLEAT_ASSERT(again.verdict == proxy_verdict::complete);
    CLEAT_ASSERT(again.header.size == second.size());
    std::string first;
    app::append_proxy_v1(first, facts);
    CLEAT_ASSERT(
        app::read_proxy_header({reinterpret_cast<std::uint8_t const*>(first.data()), first.size()})
            .verdict == proxy_verdict::complete);
}

} // namespace

// The input is what a balancer sends before TLS.
void proxy_header(octets input)
{
    app::proxy_reading const whole = app::read_proxy_header(input);
    CLEAT_ASSERT(
        (whole.verdict == proxy_verdict::malformed) == (whole.fault != app::proxy_fault::none));
    read_beginnings(input, whole);
    app::inbound_header const kept = app::keep(input, whole);
    CLEAT_ASSERT(whole.fault == app::proxy_fault::none || !kept.fault.empty());
    if (whole.verdict != proxy_verdict::complete)
        return;
    CLEAT_ASSERT(whole.header.size <= input.size());
    CLEAT_ASSERT(whole.header.size <= limits::proxy_header_max);
    static_cast<void>(app::unique_id_of(kept));
    CLEAT_ASSERT(kept.has_addresses() == !app::to_string(kept.source).empty());
    write_again(kept);
}

} // namespace cleat::fuzz
