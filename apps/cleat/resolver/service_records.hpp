// service_records: the SRV records of a DNS message (RFC 2782).

#pragma once

#include "resolver/dns_values.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cleat::app {

/// service_record is one of them.
struct service_record
{
    unsigned priority = 0;
    unsigned weight = 0;
    std::uint16_t port = 0;
    std::string host; ///< Without the dot at its end; empty: there is no such service.
};

/// service_records is what an answer has.
struct service_records
{
    std::vector<service_record> records;
    std::chrono::seconds ttl{0}; ///< The shortest, also of the aliases on the way.
};

/// read_services reads a message. Nothing: it is malformed.
[[nodiscard]] std::optional<service_records> read_services(std::span<unsigned char const> message);

/// order_services are the first `count` by priority, and among equals by weight, without those that
/// say that there is no such service.
[[nodiscard]] std::vector<service_record> order_services(
    std::vector<service_record> all, std::size_t count);

} // namespace cleat::app
