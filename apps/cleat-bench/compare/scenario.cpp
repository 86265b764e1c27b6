#include "compare/scenario.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

namespace cleat::bench {
namespace {

// Where a value stands, for what is said about it.
struct entry
{
    std::string_view key;
    std::string value;
    std::string where; // FILE:LINE
};

constexpr double rate_min = 1;
constexpr double rate_max = 1e6;

[[noreturn]] void refuse(entry const& at, std::string const& cure)
{
    throw std::runtime_error{fmt::format("{}: {} = {}: {}", at.where, at.key, at.value, cure)};
}

std::string_view trimmed(std::string_view text)
{
    constexpr char const* blank = " \t\r";
    std::size_t const first = text.find_first_not_of(blank);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

void choose(std::string& into, entry const& at, std::span<std::string_view const> from)
{
    if (std::ranges::find(from, at.value) == from.end())
        refuse(at, fmt::format("write one of {}", fmt::join(from, ", ")));
    into = at.value;
}

void number(std::uint64_t& into, entry const& at, std::uint64_t least, std::uint64_t most)
{
    std::uint64_t found = 0;
    char const* const end = at.value.data() + at.value.size();
    auto const read = std::from_chars(at.value.data(), end, found);
    if (read.ec != std::errc{} || read.ptr != end || found < least || found > most)
        refuse(at, fmt::format("write a number from {} to {}", least, most));
    into = found;
}

void number(unsigned& into, entry const& at, unsigned least, unsigned most)
{
    std::uint64_t found = 0;
    number(found, at, least, most);
    into = static_cast<unsigned>(found);
}

// A rate is "500", in a second, or "70 %" of what the weakest server can do.
void rate(std::optional<asked_rate>& into, entry const& at)
{
    std::string_view text{at.value};
    bool const part = text.ends_with('%');
    if (part)
        text = trimmed(text.substr(0, text.size() - 1));
    double found = 0;
    auto const read = std::from_chars(text.data(), text.data() + text.size(), found);
    bool const is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    double const most = part ? 100 : rate_max;
    if (!is_number || !(found >= rate_min && found <= most))
        refuse(
            at, fmt::format(
                    "write transactions per second from {} to {}, or a part of what the weakest "
                    "server can do, like 70 %",
                    rate_min, rate_max));
    into = asked_rate{part ? found / 100 : found, part};
}

void size(std::uint64_t& into, entry const& at, std::uint64_t most)
{
    auto const found = parse_size(at.value);
    if (!found || *found == 0 || *found > most)
        refuse(at, fmt::format("write a number of bytes like 1024, 16K or 1M, at most {}", most));
    into = *found;
}

// A part of one core is written "30 %".
void part_of_core(std::optional<double>& into, entry const& at)
{
    std::string_view text{at.value};
    double found = 0;
    bool is_number = text.ends_with('%');
    if (is_number) {
        text = trimmed(text.substr(0, text.size() - 1));
        auto const read = std::from_chars(text.data(), text.data() + text.size(), found);
        is_number = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    }
    if (!is_number || !(found >= 10 && found <= 100)) // Of 10 ms: the kernel's least is 1.
        refuse(at, "write a part of one core from 10 % to 100 %, like 30 %");
    into = found / 100;
}

void time(std::chrono::milliseconds& into, entry const& at)
{
    auto const found = parse_length(at.value);
    if (!found || *found < std::chrono::milliseconds{1} || *found > std::chrono::hours{1})
        refuse(at, "write a time from 1ms to 1h, like 200ms or 10s");
    into = std::chrono::duration_cast<std::chrono::milliseconds>(*found);
}

// Names of suites and groups go into the servers' configurations, where other letters would be
// configuration themselves.
void names(std::string& into, entry const& at)
{
    bool const plain = std::ranges::all_of(at.value, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == ':';
    });
    if (!plain || at.value.empty())
        refuse(at, "write names as OpenSSL does, with colons between them");
    into = at.value;
}

constexpr auto const& kinds = activity_names;
constexpr std::array<std::string_view, 3> companies{"nothing", "handshakes", "downloads"};
constexpr std::array<std::string_view, 6> certificate_keys{"ecdsa-p256", "rsa-1024", "rsa-2048",
                                                           "rsa-3072",   "rsa-4096", "ed25519"};
constexpr std::array<std::string_view, 2> versions{"1.2", "1.3"};
constexpr std::array<std::string_view, 2> yes_or_no{"yes", "no"};
constexpr std::array<std::string_view, 2> ways_to_finish{"with-request", "alone"};
constexpr std::array<std::string_view, 2> ways_to_arrive{"poisson", "constant"};

constexpr std::uint64_t many = 1'000'000'000;
constexpr std::uint64_t message_max = std::uint64_t{1} << 30;

using reader = void (*)(scenario&, entry const&);

// What a file may say. `kinds_of` has the letters of the kinds that it means something for: h(and-
// shake), d(own), u(p), i(dle), e(stablished).
struct word
{
    std::string_view key;
    std::string_view kinds_of;
    reader read;
};

constexpr std::array words{
    word{"title", "hduie", [](scenario& s, entry const& at) { s.title = at.value; }},
    word{
        "kind", "hduie",
        [](scenario& s, entry const& at) {
            std::string found;
            choose(found, at, kinds);
            s.kind = static_cast<activity>(std::ranges::find(kinds, found) - kinds.begin());
        }},
    word{"key", "hduie", [](scenario& s, entry const& at) { choose(s.key, at, certificate_keys); }},
    word{"tls", "hduie", [](scenario& s, entry const& at) { choose(s.tls, at, versions); }},
    word{"groups", "hduie", [](scenario& s, entry const& at) { names(s.groups, at); }},
    word{"ciphers", "hduie", [](scenario& s, entry const& at) { names(s.ciphers, at); }},
    word{"ciphersuites", "hduie", [](scenario& s, entry const& at) { names(s.ciphersuites, at); }},
    word{
        "connections", "hduie",
        [](scenario& s, entry const& at) { number(s.connections, at, 1, 1'000'000); }},
    word{"warm_up", "hdui", [](scenario& s, entry const& at) { number(s.warm_up, at, 0, many); }},
    word{
        "server_cpu", "hduie",
        [](scenario& s, entry const& at) { part_of_core(s.server_cpu, at); }},
    word{"answer", "he", [](scenario& s, entry const& at) { size(s.answer, at, message_max); }},
    word{"reuse", "h", [](scenario& s, entry const& at) { number(s.reuse, at, 1, 1'000'000); }},
    word{
        "session_ids", "h",
        [](scenario& s, entry const& at) {
            std::string found;
            choose(found, at, yes_or_no);
            s.session_ids = found == "yes";
        }},
    word{
        "finished", "h",
        [](scenario& s, entry const& at) {
            std::string found;
            choose(found, at, ways_to_finish);
            s.finished_alone = found == "alone";
        }},
    word{
        "transactions", "h",
        [](scenario& s, entry const& at) { number(s.transactions, at, 1, many); }},
    word{"rate", "h", [](scenario& s, entry const& at) { rate(s.rate, at); }},
    word{
        "arrivals", "h",
        [](scenario& s, entry const& at) {
            std::string found;
            choose(found, at, ways_to_arrive);
            s.arrivals = found == "poisson" ? arrivals::poisson : arrivals::constant;
        }},
    word{"every", "e", [](scenario& s, entry const& at) { time(s.every, at); }},
    word{"duration", "e", [](scenario& s, entry const& at) { time(s.duration, at); }},
    word{
        "beside", "e",
        [](scenario& s, entry const& at) {
            std::string found;
            choose(found, at, companies);
            s.beside =
                static_cast<company>(std::ranges::find(companies, found) - companies.begin());
        }},
    word{
        "beside_connections", "e",
        [](scenario& s, entry const& at) { number(s.beside_connections, at, 1, 1'000'000); }},
    word{"bytes", "due", [](scenario& s, entry const& at) { size(s.bytes, at, message_max); }},
    word{"messages", "du", [](scenario& s, entry const& at) { number(s.messages, at, 1, many); }},
};

char letter(activity kind) noexcept
{
    return "hduie"[static_cast<std::size_t>(kind)];
}

std::string keys_for(activity kind)
{
    std::vector<std::string_view> found;
    for (word const& each : words)
        if (each.kinds_of.find(letter(kind)) != std::string_view::npos)
            found.push_back(each.key);
    return fmt::format("{}", fmt::join(found, ", "));
}

// One KEY = VALUE; nothing for an empty line.
std::vector<entry> entries_of(std::string const& text, std::string const& origin)
{
    std::vector<entry> found;
    std::set<std::string_view> seen;
    std::string_view rest{text};
    for (int line = 1; !rest.empty(); ++line) {
        std::size_t const end = std::min(rest.find('\n'), rest.size());
        std::string_view const here = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (here.empty() || here.front() == '#')
            continue;
        std::string const where = fmt::format("{}:{}", origin, line);
        std::size_t const equals = here.find('=');
        std::string_view const key = trimmed(here.substr(0, equals));
        if (equals == std::string_view::npos || key.empty())
            throw std::runtime_error{
                fmt::format("{}: '{}': write KEY = VALUE, or # before a comment", where, here)};
        word const* const known = std::ranges::find(words, key, &word::key);
        if (known == words.end())
            throw std::runtime_error{fmt::format(
                "{}: there is no key '{}': write one of {}", where, key,
                fmt::join(
                    [] {
                        std::vector<std::string_view> all;
                        for (word const& each : words)
                            all.push_back(each.key);
                        return all;
                    }(),
                    ", "))};
        if (!seen.insert(known->key).second)
            throw std::runtime_error{
                fmt::format("{}: '{}' is given twice: leave one of them", where, key)};
        found.push_back({known->key, std::string{trimmed(here.substr(equals + 1))}, where});
    }
    return found;
}

// What others do beside established connections.
void check_company(scenario const& made, std::string const& origin)
{
    bool const any = made.beside != company::none;
    if (any != (made.beside_connections != 0))
        throw std::runtime_error{fmt::format(
            "{}: beside and beside_connections belong together: {}", origin,
            any ? "add beside_connections = 256, for instance"
                : "say what those connections do, like beside = handshakes")};
    bool const downloads = made.beside == company::downloads;
    if (downloads != (made.bytes != 0))
        throw std::runtime_error{fmt::format(
            "{}: {}", origin,
            downloads
                ? "beside = downloads needs bytes (of a message): add bytes = 8M, for instance"
                : "bytes are those of downloads: leave them out, or write beside = "
                  "downloads")};
}

// What makes no sense together, though each value does.
void check(scenario const& made, std::vector<entry> const& from, std::string const& origin)
{
    for (entry const& at : from) {
        word const* const known = std::ranges::find(words, at.key, &word::key);
        if (known->kinds_of.find(letter(made.kind)) == std::string_view::npos)
            refuse(
                at, fmt::format(
                        "kind = {} has no such key: leave it out; it has {}", name_of(made.kind),
                        keys_for(made.kind)));
        if (at.key == "ciphers" && made.tls != "1.2")
            refuse(at, "only TLS 1.2 has these: write ciphersuites, or add tls = 1.2");
        if (at.key == "ciphersuites" && made.tls != "1.3")
            refuse(at, "only TLS 1.3 has these: write ciphers, or tls = 1.3");
        if (at.key == "session_ids" && made.session_ids && made.tls != "1.2")
            refuse(at, "only TLS 1.2 resumes by session ID: add tls = 1.2");
        if (at.key == "session_ids" && made.session_ids && made.reuse == 1)
            refuse(at, "nothing is resumed: add reuse = 4, for instance");
        if (at.key == "arrivals" && !made.rate)
            refuse(at, "without a rate the loop is closed: add rate = 70 %, for instance");
    }
    if (made.kind == activity::established)
        check_company(made, origin);
    bool const moves = made.kind == activity::transfer_down || made.kind == activity::transfer_up;
    if (moves && (made.bytes == 0 || made.messages == 0))
        throw std::runtime_error{fmt::format(
            "{}: kind = {} needs bytes (of a message) and messages (in all): add them", origin,
            name_of(made.kind))};
    if (moves && made.messages < made.connections)
        throw std::runtime_error{fmt::format(
            "{}: {} messages are not enough for {} connections: ask for more messages, or fewer "
            "connections",
            origin, made.messages, made.connections)};
}

} // namespace

std::string_view name_of(company what) noexcept
{
    return companies[static_cast<std::size_t>(what)];
}

scenario parse_scenario(std::string const& text, std::string const& origin)
{
    scenario made;
    made.name = std::filesystem::path{origin}.stem().string();
    made.text = text;
    std::vector<entry> const from = entries_of(text, origin);
    if (std::ranges::find(from, "kind", &entry::key) == from.end())
        throw std::runtime_error{
            fmt::format("{}: kind is missing: add kind = {}", origin, fmt::join(kinds, " or "))};
    for (entry const& at : from) {
        if (at.value.empty())
            refuse(at, "the value is missing");
        std::ranges::find(words, at.key, &word::key)->read(made, at);
    }
    check(made, from, origin);
    if (made.title.empty())
        made.title = made.name;
    return made;
}

bool moves_bytes(scenario const& of) noexcept
{
    return operation_name(of) == "GB";
}

std::string_view operation_name(scenario const& of) noexcept
{
    switch (of.kind) {
    case activity::handshake:
        return of.reuse > 1 ? "transaction" : "handshake";
    case activity::transfer_down:
    case activity::transfer_up:
        return "GB";
    case activity::established:
        return of.beside == company::handshakes  ? "handshake"
               : of.beside == company::downloads ? "GB"
                                                 : "request";
    case activity::idle:
        break;
    }
    return "connection";
}

} // namespace cleat::bench
