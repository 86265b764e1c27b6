#include "compare/scenario.hpp"
#include "generate/load_spec.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

namespace cleat::bench {
namespace {

// One KEY = VALUE, with its position for error messages.
struct file_entry
{
    std::string_view key;
    std::string value;
    std::string position; // FILE:LINE
};

constexpr double rate_min = 1;
constexpr double rate_max = 1e6;
constexpr double part_min = 0.01; // Of what the weakest server can do.

[[noreturn]] void refuse_entry(file_entry const& entry, std::string const& cure)
{
    throw std::runtime_error{
        fmt::format("{}: {} = {}: {}", entry.position, entry.key, entry.value, cure)};
}

void choose(std::string& target, file_entry const& entry, std::span<std::string_view const> choices)
{
    if (std::ranges::find(choices, entry.value) == choices.end())
        refuse_entry(entry, fmt::format("write one of {}", fmt::join(choices, ", ")));
    target = entry.value;
}

void read_number(
    std::uint64_t& target, file_entry const& entry, std::uint64_t least, std::uint64_t most)
{
    std::optional<std::uint64_t> const found = parse_whole<std::uint64_t>(entry.value);
    if (!found || *found < least || *found > most)
        refuse_entry(entry, fmt::format("write a number from {} to {}", least, most));
    target = *found;
}

void read_number(unsigned& target, file_entry const& entry, unsigned least, unsigned most)
{
    std::uint64_t found = 0;
    read_number(found, entry, least, most);
    target = static_cast<unsigned>(found);
}

// A rate is "500", in a second, or "70 %" of what the weakest server can do.
void rate(std::optional<arrival_rate>& target, file_entry const& entry)
{
    std::optional<double> const part = parse_percent(entry.value);
    std::optional<double> const found = part ? part : parse_number(entry.value);
    double const least = part ? part_min : rate_min;
    double const most = part ? 1 : rate_max;
    if (!found || *found < least || *found > most)
        refuse_entry(
            entry, fmt::format(
                       "write transactions per second from {} to {}, or a part of what the weakest "
                       "server can do, like 70 %",
                       rate_min, rate_max));
    target = arrival_rate{*found, part.has_value()};
}

void size(std::uint64_t& target, file_entry const& entry, std::uint64_t most)
{
    auto const found = parse_size(entry.value);
    if (!found || *found == 0 || *found > most)
        refuse_entry(
            entry, fmt::format("write a number of bytes like 1024, 16K or 1M, at most {}", most));
    target = *found;
}

// A part of one core is written "30 %".
void part_of_core(std::optional<double>& target, file_entry const& entry)
{
    std::optional<double> const found = parse_percent(entry.value);
    if (!found || *found < 0.1 || *found > 1) // Of 10 ms: the kernel's least is 1.
        refuse_entry(entry, "write a part of one core from 10 % to 100 %, like 30 %");
    target = *found;
}

void time(std::chrono::milliseconds& target, file_entry const& entry)
{
    auto const found = parse_length(entry.value);
    if (!found || *found < std::chrono::milliseconds{1} || *found > std::chrono::hours{1})
        refuse_entry(entry, "write a time from 1ms to 1h, like 200ms or 10s");
    target = std::chrono::duration_cast<std::chrono::milliseconds>(*found);
}

// Names of suites and groups go into the servers' configurations, where other letters would be
// configuration themselves.
void names(std::string& target, file_entry const& entry)
{
    bool const plain = std::ranges::all_of(entry.value, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == ':';
    });
    if (!plain || entry.value.empty())
        refuse_entry(entry, "write names as OpenSSL does, with colons between them");
    target = entry.value;
}

constexpr auto const& kinds = activity_names;
constexpr std::array<std::string_view, 3> background_loads{"nothing", "handshakes", "downloads"};
constexpr std::array<std::string_view, 6> certificate_keys{"ecdsa-p256", "rsa-1024", "rsa-2048",
                                                           "rsa-3072",   "rsa-4096", "ed25519"};
constexpr std::array<std::string_view, 2> versions{"1.2", "1.3"};
constexpr std::array<std::string_view, 2> yes_or_no{"yes", "no"};
constexpr std::array<std::string_view, 2> ways_to_finish{"with-request", "alone"};
constexpr std::array<std::string_view, 2> ways_to_arrive{"poisson", "constant"};

constexpr std::uint64_t count_max = 1'000'000'000;
constexpr std::uint64_t message_max = std::uint64_t{1} << 30;

using reader = void (*)(scenario_spec&, file_entry const&);

// A key that a file may have. `kind_letters` are those of the kinds that have it: h(andshake),
// d(own), u(p), i(dle), e(stablished), s(ystem calls), w(orkers).
struct known_key
{
    std::string_view key;
    std::string_view kind_letters;
    reader read;
};

constexpr known_key known_keys[]{
    {"title", "hduiesw", [](scenario_spec& s, file_entry const& e) { s.title = e.value; }},
    {"kind", "hduiesw",
     [](scenario_spec& s, file_entry const& e) {
         std::string found;
         choose(found, e, kinds);
         s.kind = static_cast<activity>(std::ranges::find(kinds, found) - kinds.begin());
     }},
    {"key", "hduiesw",
     [](scenario_spec& s, file_entry const& e) { choose(s.key, e, certificate_keys); }},
    {"tls", "hduiesw", [](scenario_spec& s, file_entry const& e) { choose(s.tls, e, versions); }},
    {"groups", "hduiesw", [](scenario_spec& s, file_entry const& e) { names(s.groups, e); }},
    {"ciphers", "hduiesw", [](scenario_spec& s, file_entry const& e) { names(s.ciphers, e); }},
    {"ciphersuites", "hduiesw",
     [](scenario_spec& s, file_entry const& e) { names(s.ciphersuites, e); }},
    {"connections", "hduiesw",
     [](scenario_spec& s, file_entry const& e) { read_number(s.connections, e, 1, 1'000'000); }},
    {"streams", "de",
     [](scenario_spec& s, file_entry const& e) {
         read_number(s.streams, e, 1, http2_load::streams_max);
     }},
    {"warm_up", "hduisw",
     [](scenario_spec& s, file_entry const& e) { read_number(s.warm_up, e, 0, count_max); }},
    {"server_cpu", "hduie",
     [](scenario_spec& s, file_entry const& e) { part_of_core(s.server_cpu, e); }},
    {"answer", "hesw",
     [](scenario_spec& s, file_entry const& e) { size(s.answer, e, message_max); }},
    {"reuse", "hsw",
     [](scenario_spec& s, file_entry const& e) { read_number(s.reuse, e, 1, 1'000'000); }},
    {"session_ids", "hsw",
     [](scenario_spec& s, file_entry const& e) {
         std::string found;
         choose(found, e, yes_or_no);
         s.session_ids = found == "yes";
     }},
    {"finished", "hsw",
     [](scenario_spec& s, file_entry const& e) {
         std::string found;
         choose(found, e, ways_to_finish);
         s.finished_alone = found == "alone";
     }},
    {"transactions", "hsw",
     [](scenario_spec& s, file_entry const& e) { read_number(s.transactions, e, 1, count_max); }},
    {"rate", "h", [](scenario_spec& s, file_entry const& e) { rate(s.rate, e); }},
    {"arrivals", "h",
     [](scenario_spec& s, file_entry const& e) {
         std::string found;
         choose(found, e, ways_to_arrive);
         s.arrivals = found == "poisson" ? arrivals::poisson : arrivals::constant;
     }},
    {"every", "e", [](scenario_spec& s, file_entry const& e) { time(s.every, e); }},
    {"duration", "e", [](scenario_spec& s, file_entry const& e) { time(s.duration, e); }},
    {"beside", "e",
     [](scenario_spec& s, file_entry const& e) {
         std::string found;
         choose(found, e, background_loads);
         s.beside = static_cast<background_load>(
             std::ranges::find(background_loads, found) - background_loads.begin());
     }},
    {"beside_connections", "e",
     [](scenario_spec& s, file_entry const& e) {
         read_number(s.beside_connections, e, 1, 1'000'000);
     }},
    {"bytes", "due", [](scenario_spec& s, file_entry const& e) { size(s.bytes, e, message_max); }},
    {"messages", "du",
     [](scenario_spec& s, file_entry const& e) { read_number(s.messages, e, 1, count_max); }},
};

char letter(activity kind) noexcept
{
    return "hduiesw"[static_cast<std::size_t>(kind)];
}

std::string keys_for(activity kind)
{
    std::vector<std::string_view> found;
    for (known_key const& each : known_keys)
        if (each.kind_letters.find(letter(kind)) != std::string_view::npos)
            found.push_back(each.key);
    return fmt::format("{}", fmt::join(found, ", "));
}

std::vector<file_entry> read_entries(std::string const& text, std::string const& origin)
{
    std::vector<file_entry> found;
    std::set<std::string_view> seen;
    std::string_view rest{text};
    for (int line = 1; !rest.empty(); ++line) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        std::string_view const content = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (content.empty() || content.front() == '#')
            continue;
        std::string const position = fmt::format("{}:{}", origin, line);
        std::size_t const equals = content.find('=');
        std::string_view const key = trimmed(content.substr(0, equals));
        if (equals == std::string_view::npos || key.empty())
            throw std::runtime_error{fmt::format(
                "{}: '{}': write KEY = VALUE, or # before a comment", position, content)};
        known_key const* const known = std::ranges::find(known_keys, key, &known_key::key);
        if (known == std::end(known_keys))
            throw std::runtime_error{fmt::format(
                "{}: there is no key '{}': write one of {}", position, key,
                fmt::join(
                    [] {
                        std::vector<std::string_view> all;
                        for (known_key const& each : known_keys)
                            all.push_back(each.key);
                        return all;
                    }(),
                    ", "))};
        if (!seen.insert(known->key).second)
            throw std::runtime_error{
                fmt::format("{}: '{}' is given twice: leave one of them", position, key)};
        found.push_back({known->key, std::string{trimmed(content.substr(equals + 1))}, position});
    }
    return found;
}

// The load beside established connections.
void check_background_load(scenario_spec const& scenario, std::string const& origin)
{
    bool const any = scenario.beside != background_load::none;
    if (any != (scenario.beside_connections != 0))
        throw std::runtime_error{fmt::format(
            "{}: beside and beside_connections belong together: {}", origin,
            any ? "add beside_connections = 256, for instance"
                : "say what those connections do, like beside = handshakes")};
    bool const downloads = scenario.beside == background_load::downloads;
    if (downloads != (scenario.bytes != 0))
        throw std::runtime_error{fmt::format(
            "{}: {}", origin,
            downloads
                ? "beside = downloads needs bytes (of a message): add bytes = 8M, for instance"
                : "bytes are those of downloads: leave them out, or write beside = "
                  "downloads")};
}

// Values that contradict each other, though each is valid.
void check_scenario(
    scenario_spec const& scenario, std::vector<file_entry> const& entries,
    std::string const& origin)
{
    for (file_entry const& entry : entries) {
        known_key const* const known = std::ranges::find(known_keys, entry.key, &known_key::key);
        if (known->kind_letters.find(letter(scenario.kind)) == std::string_view::npos)
            refuse_entry(
                entry, fmt::format(
                           "kind = {} has no such key: leave it out; it has {}",
                           name_of(scenario.kind), keys_for(scenario.kind)));
        if (entry.key == "ciphers" && scenario.tls != "1.2")
            refuse_entry(entry, "only TLS 1.2 has these: write ciphersuites, or add tls = 1.2");
        if (entry.key == "ciphersuites" && scenario.tls != "1.3")
            refuse_entry(entry, "only TLS 1.3 has these: write ciphers, or tls = 1.3");
        if (entry.key == "session_ids" && scenario.session_ids && scenario.tls != "1.2")
            refuse_entry(entry, "only TLS 1.2 resumes by session ID: add tls = 1.2");
        if (entry.key == "session_ids" && scenario.session_ids && scenario.reuse == 1)
            refuse_entry(entry, "nothing is resumed: add reuse = 4, for instance");
        if (entry.key == "arrivals" && !scenario.rate)
            refuse_entry(entry, "without a rate the loop is closed: add rate = 70 %, for instance");
    }
    if (scenario.kind == activity::established)
        check_background_load(scenario, origin);
    bool const is_transfer =
        scenario.kind == activity::transfer_down || scenario.kind == activity::transfer_up;
    if (is_transfer && (scenario.bytes == 0 || scenario.messages == 0))
        throw std::runtime_error{fmt::format(
            "{}: kind = {} needs bytes (of a message) and messages (in all): add them", origin,
            name_of(scenario.kind))};
    if (scenario.streams != 0 && scenario.beside != background_load::none)
        throw std::runtime_error{fmt::format(
            "{}: streams are of HTTP/2, which the load beside does not speak: leave out streams, "
            "or beside",
            origin)};
    if (is_transfer && scenario.messages / scenario.connections < scenario.streams)
        throw std::runtime_error{fmt::format(
            "{}: a connection has {} messages for {} streams: ask for more messages, or fewer "
            "streams",
            origin, scenario.messages / scenario.connections, scenario.streams)};
    if (is_transfer && scenario.messages < scenario.connections)
        throw std::runtime_error{fmt::format(
            "{}: {} messages are not enough for {} connections: ask for more messages, or fewer "
            "connections",
            origin, scenario.messages, scenario.connections)};
}

} // namespace

std::string_view name_of(background_load what) noexcept
{
    return background_loads[static_cast<std::size_t>(what)];
}

scenario_spec parse_scenario(std::string const& text, std::string const& origin)
{
    scenario_spec scenario;
    scenario.name = std::filesystem::path{origin}.stem().string();
    scenario.text = text;
    std::vector<file_entry> const entries = read_entries(text, origin);
    if (std::ranges::find(entries, "kind", &file_entry::key) == entries.end())
        throw std::runtime_error{
            fmt::format("{}: kind is missing: add kind = {}", origin, fmt::join(kinds, " or "))};
    for (file_entry const& entry : entries) {
        if (entry.value.empty())
            refuse_entry(entry, "the value is missing");
        std::ranges::find(known_keys, entry.key, &known_key::key)->read(scenario, entry);
    }
    check_scenario(scenario, entries, origin);
    if (scenario.title.empty())
        scenario.title = scenario.name;
    return scenario;
}

bool moves_bytes(scenario_spec const& scenario) noexcept
{
    return operation_name(scenario) == "GB";
}

std::string_view operation_name(scenario_spec const& scenario) noexcept
{
    switch (scenario.kind) {
    case activity::handshake:
    case activity::system_calls:
    case activity::workers:
        return scenario.reuse > 1 ? "transaction" : "handshake";
    case activity::transfer_down:
    case activity::transfer_up:
        return "GB";
    case activity::established:
        return scenario.beside == background_load::handshakes  ? "handshake"
               : scenario.beside == background_load::downloads ? "GB"
                                                               : "request";
    case activity::idle:
        break;
    }
    return "connection";
}

} // namespace cleat::bench
