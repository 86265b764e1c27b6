// --http2: which options go with it, and the requests as HTTP/2 sends them.

#include "commands/load_options.hpp"
#include "commands/load_paths.hpp"
#include "generate/target.hpp"
#include "text/fields.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

// Fields of HTTP/1.1 that say how a connection is used (RFC 9113, section 8.2.2), and the length,
// which is that of --body-size.
constexpr std::array<std::string_view, 6> fields_of_connections{
    "Connection", "Proxy-Connection",  "Keep-Alive",
    "Upgrade",    "Transfer-Encoding", "Content-Length"};

std::string in_lower_case(std::string_view name)
{
    std::string text{name};
    std::ranges::transform(
        text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

void refuse_with_http2(std::string_view option, std::string_view why)
{
    refuse_usage(fmt::format("{}: has no effect here: {}", option, why));
}

} // namespace

void load_options::add_http2(CLI::App& app)
{
    app.add_flag(
           "--http2", http2,
           "requests by HTTP/2 (RFC 9113); a server that does not select h2 by ALPN is a failure")
        ->group("HTTP/2");
}

void load_options::add_streams(CLI::App& app)
{
    app.add_option(
           "--streams", streams,
           "of --http2: requests that a connection has open at once; a server may allow fewer, "
           "which the result says")
        ->group("HTTP/2")
        ->check(CLI::Range(1U, http2_load::streams_max))
        ->capture_default_str();
}

// As check_effect, of what makes no sense with HTTP/2, or without.
void load_options::check_http2() const
{
    if (!http2) {
        if (given("--streams"))
            refuse_with_http2("--streams", "add --http2, or leave it out");
        return;
    }
    if (websocket)
        refuse_usage(
            "--websocket: opens WebSockets by HTTP/1.1, and does not go with --http2; leave one of "
            "them out");
    for (char const* const each : {"--raw", "--raw-file"})
        if (given(each))
            refuse_with_http2(each, "requests are HTTP/2's own; leave it out");
    if (given("--alpn"))
        refuse_with_http2("--alpn", "--http2 offers h2; leave one of them out");
    if (early_data)
        refuse_usage("--early-data: does not go with --http2; leave one of them out");
    if (method == "CONNECT")
        refuse_usage("--method CONNECT: opens a tunnel in HTTP/2; give another one");
    if (streams > 1 && !keep && requests < streams)
        refuse_usage(fmt::format(
            "--streams {}: a connection carries {} request{}; give more with --requests, or add "
            "--keep",
            streams, requests, requests == 1 ? "" : "s"));
    for (std::string const& header : headers) {
        for (std::string_view const each : fields_of_connections)
            if (has_name(header, each))
                refuse_usage(fmt::format(
                    "--header '{}': HTTP/2 has no such field of a request, or writes it itself "
                    "(RFC 9113, section 8.2.2); leave it out",
                    header));
        if (has_name(header, "TE") &&
            in_lower_case(trimmed(std::string_view{header}.substr(3))) != "trailers")
            refuse_usage(fmt::format(
                "--header '{}': with HTTP/2 it is 'TE: trailers' or none (RFC 9113, section 8.2.2)",
                header));
    }
}

void load_options::set_http2(load_request& request, std::string const& path_of_target) const
{
    load_spec& spec = request.spec;
    http2_load& load = spec.http2.emplace();
    load.streams = streams;
    if (!body_size.empty())
        load.body.assign(parse_size(body_size).value_or(0), 'x');
    spec.tls.alpn = {"h2"};
    std::string const host = spec.names.empty() ? spec.tls.server_name : spec.names.front().name;
    std::string authority = host_field(host, spec.port);
    std::vector<std::pair<std::string, std::string>> fields;
    bool has_agent = false;
    for (std::string const& header : headers) {
        std::size_t const colon = header.find(':');
        std::string const field = in_lower_case(header.substr(0, colon));
        std::string const value{trimmed(std::string_view{header}.substr(colon + 1))};
        has_agent = has_agent || field == "user-agent";
        if (field == "host")
            authority = value;
        else
            fields.emplace_back(field, value);
    }
    if (!has_agent)
        fields.emplace(fields.begin(), "user-agent", "cleat-bench");
    if (!load.body.empty())
        fields.emplace_back("content-length", std::to_string(load.body.size()));
    for (weighted_request const& each : read_paths(paths, path_of_target)) {
        http2_request& one = load.requests.emplace_back();
        one.fields = {
            {":method", method},
            {":scheme", "https"},
            {":authority", authority},
            {":path", each.path}};
        one.fields.insert(one.fields.end(), fields.begin(), fields.end());
    }
    // They are the requests of HTTP/1.1.
    spec.exchange.request.clear();
    for (weighted_request& each : spec.exchange.by_path)
        each.request.clear();
    request.asked.emplace_back(
        "HTTP/2", fmt::format("{} stream{} on each connection", streams, streams == 1 ? "" : "s"));
}

} // namespace cleat::bench
