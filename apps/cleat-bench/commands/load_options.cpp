#include "commands/load_options.hpp"
#include "commands/load_paths.hpp"
#include "file_limit.hpp"
#include "gate/baseline.hpp"
#include "gate/condition.hpp"
#include "generate/target.hpp"
#include "generate/websocket_opening.hpp"
#include "result/environment.hpp"
#include "system/files.hpp"
#include "system/processes.hpp"
#include "text/fields.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <cleat/tls/context.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// Descriptors that are not connections: epoll sets, timers, files, the terminal.
constexpr std::size_t files_kept = 64;
constexpr std::size_t file_max = std::size_t{256} << 20;

// The limit for the first of several addresses that takes a connection.
constexpr std::chrono::milliseconds probe_limit{1000};

// More new connections in a second than any machine can begin.
constexpr double rate_limit = 1e7;

// The characters of a method (RFC 9110, section 5.6.2).
constexpr std::string_view token_characters =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

void check_header(std::string const& header)
{
    std::size_t const colon = header.find(':');
    bool const named = colon != std::string::npos && colon != 0 &&
                       header.find_first_not_of(token_characters) == colon;
    if (!named || header.find_first_of("\r\n") != std::string::npos)
        refuse_usage(fmt::format("--header '{}': write 'Name: value'", header));
}

// A name that the TLS library does not know is reported with the options that may have given it.
void check_tls(load_spec const& spec)
{
    std::vector<std::string> const mistakes = tls::find_mistakes(spec.tls);
    if (!mistakes.empty())
        refuse_usage(fmt::format("{}", fmt::join(mistakes, "; ")));
}

std::chrono::nanoseconds length(
    std::string const& option, std::string const& text, bool may_be_zero = false)
{
    auto const found = parse_length(text);
    if (!found || (*found == 0ns && !may_be_zero))
        refuse_usage(
            fmt::format("{} {}: write a length of time like 10s, 250ms or 2m", option, text));
    return *found;
}

std::chrono::milliseconds timeout(std::string const& option, std::string const& text)
{
    auto const found = length(option, text);
    if (found < 1ms || found > 1h)
        refuse_usage(fmt::format("{} {}: from 1ms to 1h", option, text));
    return std::chrono::ceil<std::chrono::milliseconds>(found);
}

std::uint64_t bytes(std::string const& option, std::string const& text)
{
    auto const found = parse_size(text);
    if (!found)
        refuse_usage(
            fmt::format("{} {}: write a number of bytes like 1024, 16K or 10M", option, text));
    return *found;
}

std::string contents(std::string const& option, std::string const& path)
{
    if (std::error_code none; std::filesystem::is_directory(path, none))
        refuse_usage(fmt::format("{} {}: is a folder; name a file", option, path));
    std::ifstream file{path, std::ios::binary};
    std::string text;
    if (file)
        text.assign(std::istreambuf_iterator<char>{file}, {});
    if (!file.good() && !file.eof())
        refuse_usage(fmt::format("{} {}: cannot be read: {}", option, path, std::strerror(errno)));
    if (text.empty())
        refuse_usage(fmt::format("{} {}: cannot be read, or is empty", option, path));
    if (text.size() > file_max)
        refuse_usage(fmt::format("{} {}: more than {} MiB", option, path, file_max >> 20));
    return text;
}

double number_of(std::string_view text, std::string const& option, std::string const& whole)
{
    std::optional<double> const found = parse_number(text);
    if (!found || *found > rate_limit)
        refuse_usage(fmt::format(
            "{} {}: '{}' is no rate per second from 0 to 10 million", option, whole, text));
    return *found;
}

// RATE/LENGTH for a step, FROM-TO/LENGTH for a ramp, with commas between them.
std::vector<phase> read_phases(std::string const& text)
{
    std::vector<phase> found;
    for (std::string_view const item : comma_separated(text)) {
        std::size_t const slash = item.find('/');
        if (slash == std::string_view::npos)
            refuse_usage(fmt::format(
                "--phases {}: write RATE/LENGTH or FROM-TO/LENGTH, such as 100/10s,100-1000/30s",
                text));
        std::string_view const rates = item.substr(0, slash);
        std::size_t const dash = rates.find('-');
        phase one;
        one.length = length("--phases", std::string{item.substr(slash + 1)});
        one.rate_begin = number_of(rates.substr(0, dash), "--phases", text);
        one.rate_end = dash == std::string_view::npos
                           ? one.rate_begin
                           : number_of(rates.substr(dash + 1), "--phases", text);
        found.push_back(one);
    }
    return found;
}

std::vector<weighted_name> read_names(std::vector<std::string> const& words)
{
    std::vector<weighted_name> found;
    for (std::string const& word : words) {
        std::size_t const equals = word.find('=');
        weighted_name one{word.substr(0, equals), 1};
        if (equals != std::string::npos) {
            auto const weight = parse_whole<unsigned>(std::string_view{word}.substr(equals + 1));
            if (!weight || *weight == 0 || *weight > 1'000'000)
                refuse_usage(fmt::format("--sni {}: a weight is a number from 1 to 1000000", word));
            one.weight = *weight;
        }
        if (one.name.empty())
            refuse_usage("--sni: the name is missing");
        check_server_name("--sni", one.name);
        found.push_back(std::move(one));
    }
    return found;
}

// The file of the authorities that this system trusts.
std::string system_authorities()
{
    if (char const* const named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0')
        return named;
    for (char const* const each :
         {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
          "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
        if (std::error_code none; std::filesystem::exists(each, none))
            return each;
    refuse_usage(
        "--verify: this system has no file of authorities where they usually are; name one "
        "with --ca");
}

void choose_versions(tls::context_spec& context, std::string const& text)
{
    using version = tls::protocol_version;
    context.version_min = text == "1.3" ? version::tls_1_3 : version::tls_1_2;
    context.version_max = text == "1.2" ? version::tls_1_2 : version::tls_1_3;
}

} // namespace

bool load_options::given(std::string const& option) const
{
    CLI::Option const* const found = app_ == nullptr ? nullptr : app_->get_option_no_throw(option);
    return found != nullptr && found->count() != 0;
}

// An option without effect is an error: the figures would not be those that the user asked for.
void load_options::check_effect() const
{
    struct useless
    {
        bool applies;
        char const* option;
        std::string why;
    };
    bool const is_open = rate || !phases.empty();
    bool const by_bytes = !raw.empty() || !raw_file.empty();
    for (useless const& each : {
             useless{
                 is_open && !keep, "--connections",
                 "an open loop begins as many as are due; leave it out, or --rate and --phases, or "
                 "send the requests over so many kept connections with --keep"},
             {keep, "--requests",
              "a kept connection carries requests until the time is up; leave one of them out"},
             {keep, "--phases", "kept connections have one rate; give --rate"},
             {keep && rate.has_value(), "--transactions",
              "kept connections at a rate end with --duration; leave it out"},
             {keep && rate.has_value(), "--reuse",
              "a connection that is kept shakes hands once; leave it out"},
             {keep && rate.has_value(), "--resume-ratio",
              "a connection that is kept shakes hands once; leave it out"},
             {!phases.empty(), "--duration", "the phases have their own lengths; leave it out"},
             {!is_open, "--arrivals", "a closed loop has none; add --rate or --phases"},
             {!is_open || arrivals != "poisson", "--seed",
              "only Poisson arrivals are random; add --rate and --arrivals poisson"},
             {tls == "1.3", "--ciphers",
              "TLS 1.3 has suites of its own; name them with --ciphersuites, or let --tls be 1.2"},
             {tls == "1.2", "--ciphersuites",
              "those are of TLS 1.3; name suites with --ciphers, or let --tls be 1.3"},
             {method == "HEAD", "--expect-body", "an answer to HEAD has no body; leave it out"},
             {by_bytes, "--method", "there is none without HTTP; leave it out, or --raw"},
         })
        if (each.applies && given(each.option))
            refuse_usage(fmt::format("{}: has no effect here: {}", each.option, each.why));
}

void load_options::check_values() const
{
    if (in_flight == 0)
        refuse_usage("--in-flight 0: at least one");
    if (transactions && *transactions == 0)
        refuse_usage("--transactions 0: at least one");
    if (status && (*status < 100 || *status > 599))
        refuse_usage(fmt::format("--expect-status {}: a number from 100 to 599", *status));
    bool const is_token =
        !method.empty() && method.find_first_not_of(token_characters) == std::string::npos;
    if (!is_token)
        refuse_usage(fmt::format("--method '{}': one word, such as GET or POST", method));
}

load_request load_options::make() const
{
    check_effect();
    check_values();
    check_http2();
    check_websocket();
    check_hosts();
    load_request request;
    set_schedule(request);
    std::string const path_of_target = set_target(request.spec);
    set_tls(request);
    set_exchange(request, path_of_target);
    if (http2)
        set_http2(request, path_of_target);
    if (websocket)
        set_websocket(request);
    for (int const pid : server_pids)
        if (!exists(pid))
            refuse_usage(fmt::format("--server-pid {}: there is no such process here", pid));
    request.server_pids = server_pids;
    request.preflight = !no_preflight;
    request.name = name;
    request.output = {json, html, quiet};
    request.as_host = as_host;
    if (!hosts.empty())
        request.hosts = make_hosts();
    set_gate(request);
    refuse_overwriting({baseline, authorities, certificate, key, raw_file}, files_of(request));
    return request;
}

void load_options::set_gate(load_request& request) const
{
    load_gate& gate = request.gate;
    if (!fail_if.empty())
        gate.conditions = parse_conditions(fail_if);
    std::optional<double> whole_rate = rate_asked(request.spec);
    if (whole_rate && request.hosts)
        *whole_rate *= static_cast<double>(request.hosts->hosts.size());
    if (!baseline.empty())
        gate.baseline = read_baseline(baseline, request.asked, whole_rate);
    gate.tolerance = parse_tolerance(tolerance);
    if (baseline.empty() && given("--tolerance"))
        refuse_usage("--tolerance: has no effect without --baseline");
    if (!junit.empty() && fail_if.empty() && baseline.empty())
        refuse_usage("--junit: has nothing to report without --fail-if or --baseline");
    gate.junit = junit;
    gate.csv = csv;
    gate.prometheus = prometheus;
}

void load_options::set_schedule(load_request& request) const
{
    load_spec& spec = request.spec;
    spec.duration = length("--duration", duration);
    spec.warm_up = length("--warm-up", warm_up, true);
    spec.interval = length("--interval", interval);
    if (spec.interval < 1ms)
        refuse_usage(fmt::format("--interval {}: at least 1ms", interval));
    if (rate && !phases.empty())
        refuse_usage("--rate and --phases: give one of them");
    spec.keep = keep && !rate;
    if (keep && rate) {
        set_kept_loop(request);
    } else if (rate || !phases.empty()) {
        open loop;
        if (rate && !(*rate > 0 && *rate <= rate_limit))
            refuse_usage(
                fmt::format("--rate {}: more than 0, at most 10 million per second", *rate));
        loop.phases = rate ? std::vector<phase>{{spec.warm_up + spec.duration, *rate, *rate}}
                           : read_phases(phases);
        loop.spacing = arrivals == "poisson" ? bench::arrivals::poisson : bench::arrivals::constant;
        loop.seed = seed;
        pacer const schedule{loop.phases, loop.spacing};
        if (!phases.empty())
            spec.duration = schedule.length() - spec.warm_up;
        if (schedule.expected() < 0.5)
            refuse_usage(
                rate
                    ? fmt::format("--rate {}: not one connection in --duration {}", *rate, duration)
                    : fmt::format("--phases {}: not one connection in all of them", phases));
        if (spec.duration <= 0ns)
            refuse_usage("--warm-up: longer than all phases");
        request.asked.emplace_back(
            "open loop", rate ? fmt::format("{} connections/s, {}", *rate, arrivals)
                              : fmt::format("{}, {}", phases, arrivals));
        spec.loop = loop;
    } else {
        if (connections == 0)
            refuse_usage("--connections 0: at least one");
        spec.loop = closed{connections};
        request.asked.emplace_back(
            "closed loop", fmt::format("{}{} connections", connections, keep ? " kept" : ""));
    }
    spec.transactions = transactions;
    if (workers != "auto") {
        auto const count = parse_whole<std::size_t>(workers);
        if (!count || *count == 0 || *count > 1024)
            refuse_usage(fmt::format("--workers {}: a number from 1 to 1024, or auto", workers));
        spec.workers = *count;
    }
    spec.in_flight_max = in_flight;
    if (!start_at.empty())
        request.start_at = from_utc(start_at);
    if (request.start_at && *request.start_at < std::chrono::system_clock::now())
        refuse_usage(fmt::format(
            "--start-at {}: that time has passed; it is {} now", start_at,
            in_utc(std::chrono::system_clock::now())));
}

// Requests at a rate over connections that stay open: each connection has its part of the rate.
void load_options::set_kept_loop(load_request& request) const
{
    if (!(*rate > 0 && *rate <= rate_limit))
        refuse_usage(fmt::format("--rate {}: more than 0, at most 10 million per second", *rate));
    if (connections == 0)
        refuse_usage("--connections 0: at least one");
    load_spec& spec = request.spec;
    kept loop;
    loop.connections = connections;
    loop.period = std::chrono::ceil<std::chrono::nanoseconds>(
        std::chrono::duration<double>{connections / *rate});
    loop.seed = seed;
    loop.gaps = arrivals == "poisson" ? kept_gaps::poisson : kept_gaps::constant;
    loop.ends_on_time = true;
    if (loop.period > spec.duration)
        refuse_usage(fmt::format(
            "--rate {}: a request on each of {} connections takes longer than --duration {}; ask "
            "for "
            "more, or give fewer --connections",
            *rate, connections, duration));
    spec.loop = loop;
    request.asked.emplace_back(
        "kept connections", fmt::format(
                                "{}, {} {}/s together, {}", connections, *rate,
                                websocket ? "messages" : "requests", arrivals));
}

// More connections than this machine can hold are an error here, and not thousands of failures.
void load_options::check_limits(load_spec const& spec) const
{
    if (std::holds_alternative<open>(spec.loop))
        return;
    // A kept connection that has a rate has a timer, too.
    std::size_t const each = std::holds_alternative<kept>(spec.loop) ? 2 : 1;
    std::size_t const files = raise_file_limit();
    if (each * connections + files_kept > files)
        refuse_usage(fmt::format(
            "{} {}: only {} files may be open here; raise the limit (ulimit -n) or ask for less",
            connections_option, connections, files));
    if (connections > ephemeral_ports() && sources.empty())
        refuse_usage(fmt::format(
            "{} {}: one address has {} ports only; give more with --source", connections_option,
            connections, ephemeral_ports()));
    if (std::size_t const all = workers_of(spec) * spec.in_flight_max; connections > all)
        refuse_usage(fmt::format(
            "{} {}: --in-flight {} for each of {} workers is less; allow more", connections_option,
            connections, spec.in_flight_max, workers_of(spec)));
}

std::string load_options::set_target(load_spec& spec) const
{
    // The hosts may see another network than this machine, and have other limits.
    bool const is_here = hosts.empty();
    if (is_here)
        check_limits(spec);
    bench::target const server = is_here ? find_target(target) : parse_target(target);
    spec.target = target;
    spec.tls.server_name = server_name_of(server.host);
    spec.port = server.port;
    check_path("the target's path", server.path);
    spec.timeouts = {
        timeout("--connect-timeout", connect_timeout),
        timeout("--handshake-timeout", handshake_timeout),
        timeout("--answer-timeout", answer_timeout)};
    if (is_here)
        choose_addresses(spec, server.addresses);
    spec.end = close == "reset" ? ending::reset : ending::fin;
    return server.path;
}

// The first address of the server that answers, of those in the family of the sources.
void load_options::choose_addresses(load_spec& spec, std::vector<net::address> candidates) const
{
    if (!sources.empty())
        spec.sources = find_sources(sources);
    for (net::address const& source : spec.sources) {
        std::string const first = net::to_string(candidates.front());
        std::erase_if(
            candidates, [&](net::address const& a) { return a.family() != source.family(); });
        if (candidates.empty())
            refuse_usage(fmt::format(
                "--source {}: not of the same family as {}", net::to_string(source), first));
        check_own(source);
    }
    spec.address =
        no_preflight ? candidates.front()
                     : first_that_answers(candidates, std::min(spec.timeouts.connect, probe_limit));
}

void load_options::set_tls(load_request& request) const
{
    load_spec& spec = request.spec;
    tls::context_spec& context = spec.tls;
    choose_versions(context, tls);
    if (!ciphers.empty())
        context.ciphers = ciphers;
    context.ciphersuites = ciphersuites;
    if (!groups.empty())
        context.groups = groups;
    context.signature_algorithms = signature_algorithms;
    spec.names = read_names(names);
    for (std::string_view const protocol : comma_separated(alpn))
        context.alpn.emplace_back(protocol);
    set_verification(context);
    if (!certificate.empty()) {
        tls::certificate_source client;
        client.chain = contents("--cert", certificate);
        client.private_key = key.empty() ? client.chain : contents("--key", key);
        client.origin = certificate;
        context.certificates.push_back(std::move(client));
    } else if (!key.empty()) {
        refuse_usage("--key: has no effect without --cert");
    }
    check_tls(spec);
    request.asked.emplace_back("TLS", tls);
    set_reuse(request);
}

// Without --ca the authorities are the system's.
void load_options::set_verification(tls::context_spec& context) const
{
    if (!verify) {
        if (!authorities.empty())
            refuse_usage("--ca: has no effect without --verify");
        return;
    }
    context.verify = tls::peer_verification::required;
    if (authorities.empty() && !hosts.empty())
        return; // Each host's own.
    context.verify_origin = authorities.empty() ? system_authorities() : authorities;
    context.verify_authorities = contents(
        authorities.empty() ? "--verify: the system's authorities" : "--ca", context.verify_origin);
}

void load_options::set_reuse(load_request& request) const
{
    if (ratio && std::isnan(*ratio))
        refuse_usage("--resume-ratio nan: a number from 0 to 1");
    if (ratio && reuse > 1)
        refuse_usage("--reuse and --resume-ratio: give one of them");
    if (session_ids && tls != "1.2")
        refuse_usage("--session-ids: only TLS 1.2 has them: add --tls 1.2");
    if (session_ids && reuse == 1 && !ratio)
        refuse_usage("--session-ids: say how often with --reuse or --resume-ratio");
    if (early_data && tls == "1.2")
        refuse_usage("--early-data: only TLS 1.3 has it: give --tls 1.3, or leave --tls out");
    if (early_data && reuse == 1 && !ratio)
        refuse_usage(
            "--early-data: only a resumed connection can send it: say how many resume with --reuse "
            "2 or --resume-ratio 0.9");
    request.spec.reuse = {reuse, ratio, !session_ids};
    request.spec.early_data = early_data;
    if (reuse > 1)
        request.asked.emplace_back("connections per session", std::to_string(reuse));
    if (ratio)
        request.asked.emplace_back("resume ratio", fmt::format("{}", *ratio));
    if (early_data)
        request.asked.emplace_back("early data", "where a session allows it");
}

void load_options::set_exchange(load_request& request, std::string const& path_of_target) const
{
    load_spec& spec = request.spec;
    exchange& exchange = spec.exchange;
    exchange.requests = websocket ? messages.value_or(1) : requests;
    exchange.status = status;
    exchange.body = body_text;
    if (!size.empty())
        exchange.size = bytes("--expect-size", size);
    if (!raw.empty() || !raw_file.empty()) {
        if (!raw.empty() && !raw_file.empty())
            refuse_usage("--raw and --raw-file: give one of them");
        if (status || !paths.empty() || !headers.empty() || !body_size.empty())
            refuse_usage("--raw: there is no path, header, body or status without HTTP");
        if ((requests > 1 || keep) && !exchange.size)
            refuse_usage(fmt::format(
                "--raw with {}: say with --expect-size where an answer ends",
                keep ? "--keep" : "--requests"));
        exchange.request = raw.empty() ? contents("--raw-file", raw_file) : raw;
        exchange.http = false;
    } else {
        set_requests(request, path_of_target);
    }
    if (requests > 1)
        request.asked.emplace_back("requests per connection", std::to_string(requests));
}

void load_options::set_requests(load_request& request, std::string const& path_of_target) const
{
    load_spec const& spec = request.spec;
    exchange& exchange = request.spec.exchange;
    if (!body_size.empty() && bytes("--body-size", body_size) > file_max)
        refuse_usage(fmt::format("--body-size {}: at most {} MiB", body_size, file_max >> 20));
    std::string const body =
        body_size.empty() ? std::string{} : std::string(bytes("--body-size", body_size), 'x');
    std::string const host = spec.names.empty() ? spec.tls.server_name : spec.names.front().name;
    std::string fields;
    for (std::string const& header : headers) {
        check_header(header);
        fields += header + "\r\n";
    }
    // A field that --header gives is not sent twice.
    auto const add = [&](std::string_view field, std::string_view value) {
        if (std::ranges::none_of(headers, [&](auto const& h) { return has_name(h, field); }))
            fields += fmt::format("{}: {}\r\n", field, value);
    };
    add("Host", host_field(host, spec.port));
    add("User-Agent", "cleat-bench");
    if (!body.empty())
        add("Content-Length", std::to_string(body.size()));
    if (websocket)
        fields += upgrade_fields();
    // A server that closes after its answer to early data may give no ticket.
    else if (requests == 1 && !keep && !keep_alive && !early_data)
        add("Connection", "close");
    exchange.head = method == "HEAD";

    std::vector<weighted_request> all = read_paths(paths, path_of_target);
    std::string asked;
    for (weighted_request& each : all) {
        each.request = fmt::format("{} {} HTTP/1.1\r\n{}\r\n{}", method, each.path, fields, body);
        asked += fmt::format("{}{} {}", asked.empty() ? "" : ", ", method, each.path);
        if (all.size() > 1)
            asked += fmt::format(" (weight {})", each.weight);
    }
    request.asked.emplace_back("request", asked);
    exchange.request = all.front().request;
    if (all.size() > 1)
        exchange.by_path = std::move(all);
}

} // namespace cleat::bench
