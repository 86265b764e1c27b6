#include "resolver/service_records.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace cleat::fuzz {

// The input is a message of a DNS server.
void service_records(octets input)
{
    std::optional<app::service_records> const found = app::read_services(input);
    if (!found)
        return;
    CLEAT_ASSERT(found->ttl.count() >= 0);
    constexpr std::size_t most = 3;
    std::vector<app::service_record> const ordered = app::order_services(found->records, most);
    CLEAT_ASSERT(ordered.size() <= most);
    CLEAT_ASSERT(std::ranges::is_sorted(ordered, {}, &app::service_record::priority));
    for (app::service_record const& each : ordered)
        CLEAT_ASSERT(!each.host.empty());
}

} // namespace cleat::fuzz
