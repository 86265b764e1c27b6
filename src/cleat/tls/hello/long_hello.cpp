#include <cleat/core/limits.hpp>
#include <cleat/tls/hello/long_hello.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

namespace cleat::tls {

bool is_long_hello(std::span<std::byte const> records) noexcept
{
    constexpr std::byte handshake{22};
    constexpr std::byte client_hello{1};
    constexpr std::size_t headers = 5 + 4; // Of the record, and of the message.
    if (records.size() < headers || records[0] != handshake || records[5] != client_hello)
        return false;
    auto const number = [&](std::size_t place, std::size_t count) {
        std::size_t value = 0;
        for (std::byte const each : records.subspan(place, count))
            value = value << 8U | std::to_integer<std::size_t>(each);
        return value;
    };
    bool const has_header = number(3, 2) >= 4; // All of it is in the first record.
    return has_header && number(6, 3) > limits::terminated_hello_max;
}

step refuse_long_hello(wire& w, std::unique_ptr<failure_info>& failure) noexcept
{
    constexpr std::array<std::uint8_t, 7> illegal_parameter{21, 3, 3, 0, 2, 2, 47};
    if (w.out.size() < illegal_parameter.size())
        return {want::output, 0, {}};
    std::ranges::copy(std::as_bytes(std::span{illegal_parameter}), w.out.begin());
    w.out = w.out.subspan(illegal_parameter.size());
    w.in = {};
    try {
        failure = std::make_unique<failure_info>();
        failure->own_alert = illegal_parameter.back();
        failure->reason = "the ClientHello is longer than 16 KiB";
    } catch (std::bad_alloc const&) { // The error alone tells it.
    }
    return {want::nothing, 0, error::hello_too_long};
}

} // namespace cleat::tls
