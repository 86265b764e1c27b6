// How a value of each type is read and written. It has 600 lines, because a type is a few of them,
// and all are read by searching.

#include "config/route_text.hpp"
#include "config/values.hpp"
#include "log/log_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

namespace cleat::app {
namespace {

bool same_word(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b, [](char x, char y) {
        auto const lower = [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        };
        return lower(x) == lower(y);
    });
}

// Calls use(piece) for each piece between separators, blanks trimmed.
template <class Use>
void for_each_piece(std::string_view text, std::string_view separators, Use use)
{
    constexpr std::string_view blanks = " \t";
    for (;;) {
        std::size_t const end = text.find_first_of(separators);
        std::string_view piece = text.substr(0, end);
        piece.remove_prefix(std::min(piece.find_first_not_of(blanks), piece.size()));
        piece = piece.substr(0, piece.find_last_not_of(blanks) + 1);
        use(piece);
        if (end == text.npos)
            return;
        text.remove_prefix(end + 1);
    }
}

// Calls use(word), which may refuse it, for each word between blanks and commas. Returns the first
// refusal.
template <class Use>
refusal for_each_word(std::string_view text, Use use)
{
    refusal bad;
    for_each_piece(text, " ,", [&](std::string_view word) {
        if (!word.empty() && !bad)
            bad = use(word);
    });
    return bad;
}

template <class Value>
struct named_value
{
    std::string_view word;
    Value value;
};

// The value of the word. `fault` says of another word that it is none: "is no kind of check".
template <class Value>
parsed<Value> choose(
    given const& v, std::initializer_list<named_value<Value>> values, std::string_view fault,
    std::string cure)
{
    for (named_value<Value> const& each : values)
        if (v.text == each.word)
            return each.value;
    return bad_value{fmt::format("\"{}\" {}", v.text, fault), std::move(cure)};
}

bool is_old_version(std::string_view word)
{
    return same_word(word, "SSLv3") || same_word(word, "TLSv1.0") || same_word(word, "TLSv1.1");
}

} // namespace

parsed<bool> read(as<bool>, given const& v)
{
    for (std::string_view const word : {"on", "yes", "y", "true", "t", "1"})
        if (same_word(v.text, word))
            return true;
    for (std::string_view const word : {"off", "no", "n", "false", "f", "0"})
        if (same_word(v.text, word))
            return false;
    return bad_value{fmt::format("\"{}\" is neither on nor off", v.text), "Write on or off."};
}

parsed<std::int64_t> read(as<std::int64_t>, given const& v)
{
    std::int64_t number = 0;
    char const* const last = v.text.data() + v.text.size();
    auto const [end, ec] = std::from_chars(v.text.data(), last, number);
    std::string cure = fmt::format("Write a number from {}.", range_of(v.row));
    if (ec == std::errc::result_out_of_range)
        return bad_value{fmt::format("{} is out of range", v.text), std::move(cure)};
    if (ec != std::errc{} || end != last)
        return bad_value{fmt::format("\"{}\" is not a whole number", v.text), std::move(cure)};
    if (number < v.row.lowest || number > v.row.highest)
        return bad_value{fmt::format("{} is out of range", number), std::move(cure)};
    return number;
}

parsed<int> read(as<int>, given const& v)
{
    parsed<std::int64_t> const number = read(as<std::int64_t>{}, v);
    if (!number)
        return number.error();
    return static_cast<int>(*number);
}

parsed<seconds> read(as<seconds>, given const& v)
{
    parsed<std::int64_t> const number = read(as<std::int64_t>{}, v);
    if (!number)
        return number.error();
    return seconds{*number};
}

parsed<worker_count> read(as<worker_count>, given const& v)
{
    if (v.text == "auto")
        return worker_count{0};
    parsed<std::int64_t> const number = read(as<std::int64_t>{}, v);
    if (!number)
        return bad_value{
            number.error().text, fmt::format("Write auto, or a number from {}.", range_of(v.row))};
    return worker_count{static_cast<unsigned>(*number)};
}

parsed<memory_bound> read(as<memory_bound>, given const& v)
{
    if (v.text == "off")
        return memory_bound{};
    if (v.text == "auto")
        return memory_bound{.is_auto = true};
    constexpr std::string_view units = "KMG";
    std::string_view text = v.text;
    std::size_t const unit = text.empty() ? std::string_view::npos : units.find(text.back());
    if (unit != std::string_view::npos)
        text.remove_suffix(1);
    std::uint64_t number = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr std::uint64_t most = std::uint64_t{1} << 50;
    bool const is_number = failed == std::errc{} && end == text.data() + text.size();
    if (!is_number || unit == std::string_view::npos || number > most >> (10 * (unit + 1)))
        return bad_value{
            fmt::format("{} is no size of memory", v.text),
            "Write a number with K, M or G, such as 512M; or auto, or off."};
    memory_bound const made{.bytes = number << (10 * (unit + 1))};
    if (made.bytes < limits::memory_bound_min)
        return bad_value{
            fmt::format("{} is less than cleat keeps to", v.text), "Write 64M, or more."};
    return made;
}

parsed<std::string> read(as<std::string>, given const& v)
{
    return std::string{v.text};
}

parsed<upstream_address> read(as<upstream_address>, given const& v)
{
    return parse_upstream_address(v.text, v.compat);
}

parsed<admin_address> read(as<admin_address>, given const& v)
{
    return parse_admin_address(v.text, v.compat);
}

parsed<server_name_pattern> read(as<server_name_pattern>, given const& v)
{
    return parse_server_name(v.text);
}

parsed<ip_prefix> read(as<ip_prefix>, given const& v)
{
    return parse_ip_prefix(v.text);
}

parsed<client_verify> read(as<client_verify>, given const& v)
{
    return choose<client_verify>(
        v,
        {{"none", client_verify::none},
         {"optional", client_verify::optional},
         {"required", client_verify::required}},
        "is not a way to verify clients", "Write none, optional or required.");
}

parsed<shed_answer> read(as<shed_answer>, given const& v)
{
    return choose<shed_answer>(
        v, {{"reset", shed_answer::reset}, {"alert", shed_answer::alert}},
        "is no answer to a client whose handshake is shed", "Write reset or alert.");
}

parsed<access_log_format> read(as<access_log_format>, given const& v)
{
    return choose<access_log_format>(
        v, {{"logfmt", access_log_format::logfmt}, {"json", access_log_format::json}},
        "is no format of the access log", "Write logfmt or json.");
}

parsed<inbound_tlvs> read(as<inbound_tlvs>, given const& v)
{
    return choose<inbound_tlvs>(
        v, {{"keep", inbound_tlvs::keep}, {"drop", inbound_tlvs::drop}},
        "is nothing to do with TLVs", "Write keep or drop.");
}

parsed<stale_crls> read(as<stale_crls>, given const& v)
{
    return choose<stale_crls>(
        v, {{"refuse", stale_crls::refuse}, {"accept", stale_crls::accept}},
        "is no way to treat a CRL", "Write refuse or accept.");
}

parsed<first_lookup> read(as<first_lookup>, given const& v)
{
    return choose<first_lookup>(
        v, {{"required", first_lookup::required}, {"optional", first_lookup::optional}},
        "is no way to look names up", "Write required or optional.");
}

parsed<balance> read(as<balance>, given const& v)
{
    for (balance const each :
         {balance::first, balance::round_robin, balance::least_connections, balance::client_hash})
        if (v.text == to_string(each))
            return each;
    return bad_value{
        fmt::format("\"{}\" is no way to balance", v.text),
        "Write first, round-robin, least-connections or client-hash."};
}

parsed<proxy_place> read(as<proxy_place>, given const& v)
{
    return choose<proxy_place>(
        v, {{"before", proxy_place::before_tls}, {"inside", proxy_place::inside_tls}},
        "is no place for the PROXY header",
        "Write before, for a header in clear before TLS, or inside, for one within TLS.");
}

parsed<upstream_protocols> read(as<upstream_protocols>, given const& v)
{
    if (v.text == "client")
        return upstream_protocols{.as_client = true};
    parsed<std::vector<std::string>> names = read(as<std::vector<std::string>>{}, v);
    if (!names)
        return names.error();
    return upstream_protocols{.fixed = *std::move(names)};
}

std::string_view to_string(balance strategy) noexcept
{
    switch (strategy) {
    case balance::first:
        return "first";
    case balance::round_robin:
        return "round-robin";
    case balance::least_connections:
        return "least-connections";
    case balance::client_hash:
        return "client-hash";
    }
    return "";
}

parsed<check_kind> read(as<check_kind>, given const& v)
{
    return choose<check_kind>(
        v,
        {{"off", check_kind::off},
         {"on", check_kind::on},
         {"tcp", check_kind::tcp},
         {"tls", check_kind::tls}},
        "is no kind of check",
        "Write on, with check-send and check-expect for more than a connection, or tcp, tls or "
        "off.");
}

parsed<wire_text> read(as<wire_text>, given const& v)
{
    constexpr std::string_view letters = "rnt\\";
    constexpr std::string_view bytes = "\r\n\t\\";
    wire_text made;
    std::string_view rest = v.text;
    while (!rest.empty()) {
        if (rest.front() != '\\') {
            made.bytes += rest.front();
            rest.remove_prefix(1);
            continue;
        }
        if (std::size_t const known = letters.find(rest.substr(0, 2).back());
            rest.size() > 1 && known != letters.npos) {
            made.bytes += bytes[known];
            rest.remove_prefix(2);
            continue;
        }
        unsigned byte = 0;
        std::string_view const digits =
            rest.substr(0, 4).substr(std::min<std::size_t>(rest.size(), 2));
        auto const [end, ec] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (!rest.starts_with("\\x") || digits.size() != 2 || ec != std::errc{} ||
            end != digits.data() + 2)
            return bad_value{
                fmt::format("\"{}\" is no escape", rest.substr(0, 2)),
                "Write \\r, \\n, \\t, \\\\ or \\x with two hexadecimal digits."};
        made.bytes += static_cast<char>(byte);
        rest.remove_prefix(4);
    }
    return made;
}

parsed<syslog_facility> read(as<syslog_facility>, given const& v)
{
    if (std::optional<int> const code = syslog_facility_number(v.text))
        return syslog_facility{std::string{v.text}, *code};
    return bad_value{
        fmt::format("\"{}\" is no facility of syslog", v.text),
        "Write auth, authpriv, cron, daemon, ftp, local0 to local7, lpr, mail, news, user or "
        "uucp."};
}

parsed<tls_versions> read(as<tls_versions>, given const& v)
{
    tls_versions chosen{false, false};
    std::string_view old;
    refusal const bad = for_each_word(v.text, [&](std::string_view word) -> refusal {
        if (same_word(word, "TLSv1.2"))
            chosen.tls_1_2 = true;
        else if (same_word(word, "TLSv1.3"))
            chosen.tls_1_3 = true;
        else if (is_old_version(word))
            old = word;
        else
            return bad_value{
                fmt::format("\"{}\" is not a version of TLS", word), "Write TLSv1.2 and TLSv1.3."};
        return {};
    });
    if (bad)
        return *bad;
    if (!chosen.tls_1_2 && !chosen.tls_1_3 && !old.empty())
        return bad_value{
            fmt::format("{} is not built: it is not safe any more (RFC 7568, RFC 8996)", old),
            "Write TLSv1.2 and TLSv1.3."};
    if (!chosen.tls_1_2 && !chosen.tls_1_3)
        return bad_value{"no version of TLS is named", "Write TLSv1.2 and TLSv1.3."};
    return chosen;
}

refusal old_tls_versions(given const& v)
{
    std::vector<std::string_view> old;
    for_each_piece(v.text, " ,", [&](std::string_view word) {
        if (is_old_version(word))
            old.push_back(word);
    });
    if (old.empty())
        return {};
    return bad_value{
        fmt::format(
            "not offered: {}, which {} not safe any more (RFC 7568, RFC 8996)",
            fmt::join(old, " and "), old.size() == 1 ? "is" : "are"),
        fmt::format(
            "Clients that speak nothing newer are refused: leave {} out.",
            old.size() == 1 ? "it" : "them")};
}

parsed<sandbox_choice> read(as<sandbox_choice>, given const& v)
{
    sandbox_choice chosen{.landlock = landlock_use::off};
    bool is_off = false;
    refusal bad;
    for_each_piece(v.text, " ,", [&](std::string_view word) {
        if (word == "auto" && chosen.landlock == landlock_use::off)
            chosen.landlock = landlock_use::where_possible;
        else if (word == "landlock")
            chosen.landlock = landlock_use::required;
        else if (word == "ports")
            chosen.ports = true;
        else if (word == "seccomp")
            chosen.seccomp = true;
        else if (word == "off")
            is_off = true;
        else if (!word.empty() && word != "auto" && !bad)
            bad = bad_value{
                fmt::format("\"{}\" is no part of a sandbox", word),
                "Write auto, or landlock, ports and seccomp; or off."};
    });
    if (bad)
        return *bad;
    if (is_off && (!chosen.is_off() || chosen.ports))
        return bad_value{"off stands alone", "Write off, or what is to be on."};
    if (chosen.ports && chosen.landlock != landlock_use::required)
        return bad_value{"ports is a part of Landlock", "Write landlock, ports."};
    return chosen;
}

std::string_view to_string(compression algorithm) noexcept
{
    return algorithm == compression::brotli ? "brotli" : "zlib";
}

parsed<std::vector<compression>> read(as<std::vector<compression>>, given const& v)
{
    std::vector<compression> chosen;
    if (same_word(v.text, "off"))
        return chosen;
    refusal const bad = for_each_word(v.text, [&](std::string_view word) -> refusal {
        bool const is_brotli = same_word(word, "brotli");
        compression const algorithm = is_brotli ? compression::brotli : compression::zlib;
        if (same_word(word, "zstd"))
            return bad_value{"this build cannot compress with zstd", "Write brotli, zlib or both."};
        if (!is_brotli && !same_word(word, "zlib"))
            return bad_value{
                fmt::format("\"{}\" is no algorithm for certificates", word),
                "Write brotli, zlib or both; or off."};
        if (std::ranges::find(chosen, algorithm) != chosen.end())
            return bad_value{fmt::format("{} is there twice", word), "Write it once."};
        chosen.push_back(algorithm);
        return {};
    });
    if (bad)
        return *bad;
    return chosen;
}

parsed<std::vector<std::string>> read(as<std::vector<std::string>>, given const& v)
{
    constexpr std::size_t name_bytes_max = 255; // RFC 7301 section 3.1: one byte of length
    std::vector<std::string> names;
    bool gap = false;
    bool too_long = false;
    std::string_view mixed;
    for_each_piece(v.text, ",", [&](std::string_view name) {
        if (name.find_first_of(" \t;:|") != name.npos)
            mixed = name;
        gap = gap || (!names.empty() && names.back().empty()); // a trailing comma is no gap
        too_long = too_long || name.size() > name_bytes_max;
        names.emplace_back(name);
    });
    if (names.back().empty())
        names.pop_back();
    if (gap || names.empty())
        return bad_value{
            "a protocol's name is missing between two commas", "Write \"h2,http/1.1\"."};
    // Legal on the wire (RFC 7301, section 3.1), but no protocol has one: a comma is missing.
    if (!mixed.empty())
        return bad_value{
            fmt::format(
                "\"{}\" is not one protocol's name: it has '{}' in it", mixed,
                mixed[mixed.find_first_of(" \t;:|")]),
            "Separate protocols with commas: \"h2,http/1.1\"."};
    if (too_long)
        return bad_value{"a protocol's name is longer than 255 bytes", "Write \"h2,http/1.1\"."};
    return names;
}

parsed<address_sources> read(as<address_sources>, given const& v)
{
    address_sources made{.text = std::string{v.text}};
    if (same_word(v.text, "off"))
        return made;
    refusal const bad = for_each_word(v.text, [&](std::string_view word) -> refusal {
        if (word == "@")
            return bad_value{"the name of a file is missing behind @", "Write @/PATH."};
        if (word.front() == '@')
            made.files.emplace_back(word.substr(1));
        else if (std::optional<list_fault> fault = add_prefix(made.written, word))
            return bad_value{std::move(fault->text), std::move(fault->cure)};
        return {};
    });
    if (bad)
        return *bad;
    if (!made.is_on())
        return bad_value{"there is no prefix in it", "Write a prefix, @/PATH or off."};
    return made;
}

parsed<dns_server_list> read(as<dns_server_list>, given const& v)
{
    dns_server_list made;
    refusal const bad = for_each_word(v.text, [&](std::string_view word) -> refusal {
        parsed<host_port> server = parse_dns_server(word);
        if (!server)
            return server.error();
        made.servers.push_back(*std::move(server));
        return {};
    });
    if (bad)
        return *bad;
    if (made.servers.empty())
        return bad_value{
            "there is no address in it", "Write the address of a server of DNS, or leave it out."};
    return made;
}

parsed<local_addresses> read(as<local_addresses>, given const& v)
{
    local_addresses made;
    if (same_word(v.text, "off"))
        return made;
    refusal const bad = for_each_word(v.text, [&](std::string_view word) -> refusal {
        std::string number{
            word.front() == '[' && word.back() == ']' ? word.substr(1, word.size() - 2) : word};
        if (!is_number(number))
            return bad_value{
                fmt::format("\"{}\" is not the number of an address", word),
                "Write addresses of this machine without ports, such as 192.0.2.1,192.0.2.2."};
        if (std::ranges::find(made.numbers, number) != made.numbers.end())
            return bad_value{fmt::format("{} is in it twice", number), "Name each address once."};
        made.numbers.push_back(std::move(number));
        return {};
    });
    if (bad)
        return *bad;
    if (made.numbers.empty())
        return bad_value{"there is no address in it", "Write an address of this machine, or off."};
    return made;
}

std::string range_of(key_row const& row)
{
    return row.highest == 0 ? std::string{} : fmt::format("{} to {}", row.lowest, row.highest);
}

std::string written(bool v)
{
    return v ? "on" : "off";
}
std::string written(int v)
{
    return fmt::to_string(v);
}
std::string written(seconds v)
{
    return fmt::to_string(v.count());
}
std::string written(worker_count v)
{
    return v.number == 0 ? "auto" : fmt::to_string(v.number);
}
std::string written(memory_bound v)
{
    if (!v.is_on())
        return "off";
    if (v.is_auto)
        return "auto";
    constexpr std::uint64_t k = 1024;
    if (v.bytes % (k * k * k) == 0)
        return fmt::format("{}G", v.bytes / (k * k * k));
    return v.bytes % (k * k) == 0 ? fmt::format("{}M", v.bytes / (k * k))
                                  : fmt::format("{}K", v.bytes / k);
}
std::string written(std::string const& v)
{
    return v;
}
std::string written(address_sources const& v)
{
    return v.text;
}
std::string written(dns_server_list const& v)
{
    std::vector<std::string> texts;
    for (host_port const& each : v.servers)
        texts.push_back(to_string(each));
    return fmt::to_string(fmt::join(texts, ","));
}
std::string written(local_addresses const& v)
{
    return fmt::to_string(fmt::join(v.numbers, ","));
}
std::string written(inbound_tlvs v)
{
    return v == inbound_tlvs::keep ? "keep" : "drop";
}
std::string written(first_lookup v)
{
    return v == first_lookup::required ? "required" : "optional";
}
std::string written(proxy_place v)
{
    return v == proxy_place::before_tls ? "before" : "inside";
}
std::string written(upstream_protocols const& v)
{
    return v.as_client ? "client" : written(v.fixed);
}
std::string written(stale_crls v)
{
    return v == stale_crls::refuse ? "refuse" : "accept";
}
std::string written(upstream_address const& v)
{
    return to_string(v);
}
std::string written(admin_address const& v)
{
    return to_string(v);
}
std::string written(syslog_facility v)
{
    return v.name;
}
std::string written(access_log_format v)
{
    return v == access_log_format::json ? "json" : "logfmt";
}
std::string written(shed_answer v)
{
    return v == shed_answer::alert ? "alert" : "reset";
}
std::string written(client_verify v)
{
    switch (v) {
    case client_verify::none:
        return "none";
    case client_verify::optional:
        return "optional";
    case client_verify::required:
        return "required";
    }
    return {};
}
std::string written(tls_versions v)
{
    return fmt::format(
        "{}{}{}", v.tls_1_2 ? "TLSv1.2" : "", v.tls_1_2 && v.tls_1_3 ? " " : "",
        v.tls_1_3 ? "TLSv1.3" : "");
}
std::string written(sandbox_choice v)
{
    std::string text;
    auto const add = [&text](std::string_view word) {
        text.append(text.empty() ? "" : " ").append(word);
    };
    if (v.landlock != landlock_use::off)
        add(v.landlock == landlock_use::required ? "landlock" : "auto");
    if (v.ports)
        add("ports");
    if (v.seccomp)
        add("seccomp");
    return text.empty() ? "off" : text;
}
std::string written(std::vector<compression> const& v)
{
    std::string text;
    for (compression const each : v)
        text.append(text.empty() ? "" : " ").append(to_string(each));
    return text.empty() ? "off" : text;
}
std::string written(std::vector<std::string> const& v)
{
    return fmt::format("{}", fmt::join(v, ","));
}

} // namespace cleat::app
