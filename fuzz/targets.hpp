// targets: the functions that fuzzing calls with bytes of an attacker, one a target. Each hands
// them to functions of the library or of a program, and asserts what must hold for any bytes. A
// target has no state that outlives a call, so that one input alone repeats a failure.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace cleat::fuzz {

using octets = std::span<std::uint8_t const>;

[[nodiscard]] inline std::string_view text_of(octets input) noexcept
{
    return {reinterpret_cast<char const*>(input.data()), input.size()};
}

// fuzz/library
void certificate_index(octets input);
void client_hello(octets input);
void ja4(octets input);
void session_cache(octets input);
void session_ticket(octets input);

// fuzz/cleat
void address_list(octets input);
void admin_http(octets input);
void client_rules(octets input);
void configuration(octets input);
void handshake_line(octets input);
void proxy_header(octets input);
void ratchet_file(octets input);
void relay(octets input);
void routes(octets input);
void service_records(octets input);
void ticket_secrets(octets input);

// fuzz/cleat-bench
void documents(octets input);
void histogram_log(octets input);
void http_answer(octets input);
void scenario(octets input);
void server_flight(octets input);

// fuzz/cleat-locks
void trace(octets input);
void waits(octets input);

} // namespace cleat::fuzz
