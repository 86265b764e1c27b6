#include "command_line/explain_command_line.hpp"
#include "command_line/start_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include <arpa/inet.h>

namespace cleat::app {
namespace {

constexpr std::string_view explain_help =
    R"(Usage: {0} explain --sni NAME [--alpn P] [--from ADDRESS] [--to FRONTEND] [--json]
               [OPTIONS] [PEM...]

Says what a client would get: the certificates, TLS versions, ALPN, client verification, resumption
and upstream, and why. It takes the flags and files of a start, changes nothing and takes no port.
The exit code is 0 where the configuration is good, also if the client would be refused.

  --sni NAME      the name that the client asks for; empty: it sends none
  --alpn P        a protocol that it offers, or several with commas; without it no ALPN
  --from ADDRESS  its IP address, for routes with client-address and for what the upstream learns
  --to FRONTEND   the address of one frontend, as the configuration has it; without it each
  --json          one JSON document, for programs
  -h, --help

{0} --help lists the other flags.
)";

constexpr std::array<own_flag, 6> explain_flags{{
    {"--sni", own_flag::kind::value},
    {"--alpn", own_flag::kind::value},
    {"--from", own_flag::kind::value},
    {"--to", own_flag::kind::value},
    {"--json", own_flag::kind::flag},
    {"-h,--help", own_flag::kind::instead},
}};

// The value of a flag that may be given once.
std::string one_value(start_words& words, std::string_view flag)
{
    std::vector<std::string> const all = words.values(flag);
    if (all.size() > 1)
        words.problems.push_back(
            mistake(fmt::format("--{}", flag), "it is given more than once", "Give it once."));
    return all.empty() ? "" : all.front();
}

// The name as a client sends it (RFC 6066, section 3).
std::string asked_name(start_words& words)
{
    std::string const text = one_value(words, "sni");
    if (!words.has("sni")) {
        words.problems.push_back(mistake(
            "--sni", "it is missing",
            "Name the host that the client asks for; an empty name is a client without SNI."));
        return text;
    }
    std::string_view host = text;
    if (std::size_t const scheme = host.find("://"); scheme != std::string_view::npos)
        host.remove_prefix(scheme + 3);
    host = host.substr(0, host.find('/'));
    bool const is_ipv6 = std::ranges::count(host, ':') > 1;
    if (!is_ipv6)
        host = host.substr(0, host.find(':'));
    if (is_ipv6)
        words.problems.push_back(mistake(
            "--sni", fmt::format("\"{}\" is an address, and no client sends one as its SNI", text),
            "Write a name; an empty one is a client without SNI."));
    else if (host != text)
        words.problems.push_back(mistake(
            "--sni", fmt::format("\"{}\" is no name, which is all that a client sends", text),
            fmt::format("Write {} alone.", host.empty() ? "the name" : host)));
    else if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > 127; }))
        words.problems.push_back(mistake(
            "--sni", fmt::format("\"{}\" is not ASCII, as a client sends it", text),
            "Write the form that begins with xn--: `idn2 NAME` prints it."));
    return text;
}

std::vector<std::string> offered_protocols(start_words& words)
{
    constexpr std::size_t protocol_size_max = 255; // RFC 7301, section 3.1.
    std::vector<std::string> found;
    for (std::string const& list : words.values("alpn"))
        for (std::size_t begin = 0; begin <= list.size();) {
            std::size_t const end = std::min(list.find(',', begin), list.size());
            found.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
    if (std::ranges::any_of(found, [](std::string const& each) {
            return each.empty() || each.size() > protocol_size_max;
        }))
        words.problems.push_back(mistake(
            "--alpn", "a protocol's name has 1 to 255 bytes", "Write names such as h2,http/1.1."));
    return found;
}

std::string client_address(start_words& words)
{
    std::string const text = one_value(words, "from");
    in6_addr bytes{};
    bool const is_good = inet_pton(AF_INET, text.c_str(), &bytes) == 1 ||
                         inet_pton(AF_INET6, text.c_str(), &bytes) == 1;
    if (words.has("from") && !is_good)
        words.problems.push_back(mistake(
            "--from", fmt::format("\"{}\" is no IP address", text),
            "Write 192.0.2.1 or 2001:db8::1."));
    return text;
}

std::optional<host_port> chosen_frontend(start_words& words)
{
    std::string const text = one_value(words, "to");
    if (!words.has("to"))
        return {};
    parsed<listen_address> const read = parse_listen_address(text, dialect::stud);
    std::vector<std::string> known;
    for (frontend_config const& each : words.settings.frontends) {
        if (read && each.address() == read->where)
            return read->where;
        known.push_back(to_string(each.address()));
    }
    words.problems.push_back(mistake(
        "--to", fmt::format("\"{}\" is no frontend", text),
        fmt::format("The frontends are {}.", fmt::join(known, ", "))));
    return {};
}

} // namespace

command parse_explain(std::string_view program, std::span<char const* const> arguments)
{
    start_words words =
        read_start_words({program, fmt::format("{} explain", program), explain_flags}, arguments);
    if (words.has("help"))
        return print_text{fmt::format(explain_help, program)};
    if (has_errors(words.problems))
        return refused{std::move(words.problems)};
    explain_client wanted;
    wanted.server_name = asked_name(words);
    wanted.alpn = offered_protocols(words);
    wanted.address = client_address(words);
    wanted.to = chosen_frontend(words);
    wanted.json = words.has("json");
    if (has_errors(words.problems))
        return refused{std::move(words.problems)};
    wanted.settings = std::move(words.settings);
    wanted.warnings = std::move(words.problems);
    return wanted;
}

} // namespace cleat::app
