#include "access/access_entry.hpp"
#include "log/log.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace cleat::app {
namespace {

using std::chrono::system_clock;

void add_if_any(line_text& line, std::string_view key, std::string_view value) noexcept
{
    if (!value.empty())
        line.add(key, value);
}

void add_time(line_text& line, std::string_view key, system_clock::time_point time) noexcept
{
    std::array<char, rfc3339_size> const text = format_rfc3339(time);
    line.add(key, std::string_view{text.data(), text.size()});
}

// Milliseconds with three decimals.
void add_duration(line_text& line, std::string_view key, access_entry::duration time) noexcept
{
    auto const us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    std::array<char, 24> text; // NOLINT: filled below
    char* const end = std::to_chars(text.data(), text.data() + 20, us / 1000).ptr;
    auto const rest = static_cast<unsigned>(us % 1000);
    end[0] = '.';
    end[1] = static_cast<char>('0' + rest / 100);
    end[2] = static_cast<char>('0' + rest / 10 % 10);
    end[3] = static_cast<char>('0' + rest % 10);
    line.add_bare(key, {text.data(), static_cast<std::size_t>(end + 4 - text.data())});
}

void add_phase(
    line_text& line, std::string_view key, std::optional<access_entry::duration> time) noexcept
{
    if (time)
        add_duration(line, key, *time);
}

line_text begin_entry(access_stream const& out) noexcept
{
    if (!out.sink().is_syslog())
        return line_text{out.form()};
    std::array<char, 64> space; // NOLINT: filled by syslog_head
    return line_text{out.form(), syslog_head(out.sink(), log_level::info, space)};
}

void add_tls(line_text& line, access_entry const& entry) noexcept
{
    add_if_any(line, "sni", entry.agreed.server_name);
    if (entry.is_established)
        add_if_any(line, "alpn", entry.agreed.alpn);
    add_if_any(line, "version", entry.agreed.version);
    add_if_any(line, "cipher", entry.agreed.cipher);
    if (entry.is_established) {
        add_if_any(line, "group", entry.agreed.group);
        add_if_any(line, "signature_scheme", entry.agreed.signature_scheme);
        line.add("resumed", entry.agreed.resumed);
        if (entry.agreed.resumed)
            line.add("session_age_s", entry.agreed.ticket.age);
    }
    add_if_any(line, "ja4", entry.ja4);
    add_if_any(line, "certificate", entry.certificate);
    add_if_any(line, "client_subject", entry.client.subject);
    add_if_any(line, "client_fingerprint", entry.client.fingerprint);
}

} // namespace

void write(access_stream const& out, std::size_t worker, access_entry const& entry) noexcept
{
    line_text line = begin_entry(out);
    system_clock::time_point const now = system_clock::now();
    add_time(line, "time", now);
    add_time(line, "began", now - std::chrono::duration_cast<system_clock::duration>(entry.lasted));
    line.add("worker", worker);
    line.add("frontend", entry.frontend);
    line.add("peer", entry.peer);
    add_if_any(line, "source", entry.source);
    if (entry.is_passthrough)
        line.add("passthrough", true);
    add_if_any(line, "unique_id", entry.unique_id);
    add_if_any(line, "proxy_tlvs", entry.proxy_tlvs);
    add_tls(line, entry);
    add_if_any(line, "upstream", entry.upstream);
    line.add("up_bytes", entry.up);
    line.add("down_bytes", entry.down);
    add_duration(line, "duration_ms", entry.lasted);
    add_phase(line, "handshake_ms", entry.handshake);
    add_phase(line, "connect_ms", entry.connect);
    add_phase(line, "first_byte_ms", entry.first_byte);
    line.add("reason", name_of(entry.reason));
    if (entry.error) {
        std::array<char, 128> space{};
        line.add("error", text_of_error(entry.error, space));
    }
    add_if_any(line, "alert", entry.alert);
    add_if_any(line, "detail", entry.detail);
    // Last: a client may choose long ones, which must not take the room of another field.
    add_if_any(line, "client_issuer", entry.client.issuer);
    add_if_any(line, "client_serial", entry.client.serial);
    out.write(line.end(true));
}

} // namespace cleat::app
