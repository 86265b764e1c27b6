#include <cleat/core/limits.hpp>
#include <cleat/tls/hello/long_hello.hpp>
#include <cleat/tls/hello/message_reader.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

namespace cleat::tls {

bool is_long_hello(std::span<std::byte const> records) noexcept
{
    constexpr std::size_t handshake = 22;
    constexpr std::size_t client_hello = 1;
    constexpr std::size_t message_header = 4;
    message_reader reader{{reinterpret_cast<std::uint8_t const*>(records.data()), records.size()}};
    bool const is_handshake = reader.number(1) == handshake;
    static_cast<void>(reader.number(2));                        // legacy_record_version.
    bool const has_header = reader.number(2) >= message_header; // All of it in the first record.
    bool const is_hello = reader.number(1) == client_hello;
    std::size_t const length = reader.number(3);
    return reader.is_whole() && is_handshake && has_header && is_hello &&
           length > limits::terminated_hello_max;
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
