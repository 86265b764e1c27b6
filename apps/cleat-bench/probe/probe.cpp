// Each question about a server is a function of `prober`, which makes some visits. More than 400
// lines: the functions are short, and are used together only.

#include "generate/outcome.hpp"
#include "generate/target.hpp"
#include "probe/attacks.hpp"
#include "probe/chain.hpp"
#include "probe/failure.hpp"
#include "probe/features.hpp"
#include "probe/fleet.hpp"
#include "probe/offers.hpp"
#include "probe/probe.hpp"
#include "probe/raw_client.hpp"
#include "probe/renegotiation.hpp"
#include "probe/tolerance.hpp"
#include "probe/visit.hpp"

#include <cleat/tls/alert.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using library_version = tls::protocol_version;

// After so many failed connections the probe ends: the server may be limiting us.
constexpr unsigned failures_max = 3;

constexpr std::string_view unknown_name = "cleat-probe.invalid"; // RFC 6761, section 6.4.

// Of the registry of ALPN protocol IDs (RFC 7301, section 6), and SPDY.
constexpr std::array<std::string_view, 30> known_protocols{
    "http/1.1", "h2",       "h3",          "http/1.0",    "http/0.9",   "h2c",
    "spdy/3.1", "spdy/3",   "spdy/2",      "spdy/1",      "acme-tls/1", "stun.turn",
    "webrtc",   "c-webrtc", "ftp",         "imap",        "pop3",       "managesieve",
    "coap",     "co",       "xmpp-client", "xmpp-server", "mqtt",       "dot",
    "ntske/1",  "irc",      "nntp",        "postgresql",  "radius/1.1", "tds/8.0"};

std::string joined_names(std::string_view host, std::string_view port)
{
    return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                    : fmt::format("[{}]:{}", host, port);
}

std::string colon_list(std::vector<std::string> const& names)
{
    return fmt::format("{}", fmt::join(names, ":"));
}

std::optional<nanoseconds> median_time(std::vector<nanoseconds> times)
{
    if (times.empty())
        return {};
    auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

// prober probes one server. Each function may leave its part of the report empty.
class prober
{
public:
    prober(
        std::string const& host, std::string const& port, probe_options const& options,
        probe_report& report)
        : options_{options}
        , report_{report}
        , port_{port}
        , name_{options.server_name.empty() ? server_name_of(host) : options.server_name}
        , request_{fmt::format(
              "GET / HTTP/1.1\r\nHost: {}\r\nUser-Agent: cleat-bench\r\nConnection: close\r\n\r\n",
              host_field(name_, port))}
        , raw_{address_, is_address(name_) ? std::string{} : name_, options.timeout}
    {
    }

    void run(std::vector<net::address> const& addresses)
    {
        if (!find_address(addresses))
            return;
        find_groups();
        if (library_works_) {
            find_alpn();
            find_certificates();
            find_names();
            find_resumption();
            find_members();
            find_times();
        }
        find_answers();
        say_what_is_incomplete();
    }

private:
    // A client with cleat's defaults, so that it negotiates what cleat's users get.
    [[nodiscard]] tls::context_spec default_client() const
    {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.server_name = name_;
        return spec;
    }

    // A client that accepts anything, in one version or in all.
    [[nodiscard]] tls::context_spec permissive_client(
        std::optional<library_version> only = {}) const
    {
        tls::context_spec spec = default_client();
        spec.ciphers = colon_list(suites_1_2_);
        spec.groups = colon_list(groups_);
        if (only)
            spec.version_min = spec.version_max = *only;
        return spec;
    }

    static tls::context make_context(tls::context_spec const& spec)
    {
        tls::context made{spec};
        tls::accept_weak(made, spec);
        return made;
    }

    visit connect(visit_options const& options)
    {
        if (failures_ >= failures_max)
            return {};
        connection visitor{address_, options, options_.timeout};
        visit result = visitor.run(options_.ticket_wait, request_);
        if (!result.established && !result.refused()) {
            ++failures_;
            failure_kind_ = fmt::format("{}: {}", name_of(result.reached), result.failure.kind);
        }
        return result;
    }

    visit connect(tls::context_spec const& spec)
    {
        tls::context const context = make_context(spec);
        return connect(visit_options{.context = &context});
    }

    bool find_address(std::vector<net::address> const& addresses);
    void find_versions();
    void add_agreed_version();
    void prefer_the_first();
    void find_groups();
    void find_answers();
    void say_what_is_incomplete();
    void find_alpn();
    void find_certificates();
    void add_certificate(tls::context_spec const& spec);
    void find_names();
    sni_reaction reaction_to(std::string_view name);
    void find_resumption();
    probed_resumption resume(tls::context_spec const& spec, bool by_ticket);
    bool accepts_used_ticket(tls::context const& context);
    void find_members();
    void find_times();

    probe_options const& options_;
    probe_report& report_;
    std::string const& port_;
    std::string name_;
    std::string request_;
    net::address address_;
    std::vector<std::string> suites_1_2_ = tls::offerable_suites(library_version::tls_1_2);
    std::vector<std::string> groups_ = tls::offerable_groups();
    raw_client raw_;
    accepted_versions accepted_;
    bool default_client_works_ = true;
    std::string old_ticket_; // Of TLS 1.2.
    bool early_data_ = false;
    bool library_works_ = true; // It shares a version and a suite with the server.
    std::vector<nanoseconds> resumed_;
    unsigned failures_ = 0;
    std::string failure_kind_;
};

// The first connection: finds the address that answers, or reports why none does.
bool prober::find_address(std::vector<net::address> const& addresses)
{
    visit result;
    std::span<net::address const> rest{addresses};
    for (tls::context_spec const& spec :
         {default_client(), permissive_client(), permissive_client(library_version::tls_1_2)}) {
        for (; !rest.empty(); rest = rest.subspan(1)) {
            address_ = rest.front();
            result = connect(spec);
            failures_ = 0; // An address that does not answer is not the probed one.
            if (result.failure.connected)
                break;
        }
        if (result.established || !result.refused() || result.error == error::not_tls ||
            result.error == error::http_request)
            break;
        default_client_works_ = false; // The next client is less demanding.
    }
    report_.address = net::to_string(address_);
    bool const speaks_tls = result.error != error::not_tls && result.error != error::http_request;
    if (result.established || (result.refused() && speaks_tls))
        find_versions();
    if (!result.established && !report_.versions.empty()) {
        library_works_ = false;
        prefer_the_first();
        return true;
    }
    if (!result.established) {
        if (result.failure.connected && result.failure.first_bytes.empty() &&
            result.failure.alert < 0)
            result.failure.first_bytes =
                plain_answer(address_, request_, std::min(options_.timeout, options_.ticket_wait));
        report_.error = failure_sentence(report_.target, options_.timeout, result.failure);
        return false;
    }
    report_.version = result.version;
    report_.suite = result.suite;
    report_.group = result.group;
    report_.signature_scheme = result.scheme;
    add_agreed_version();
    return true;
}

// A server that leaves raw hellos unanswered has at least what the library got.
void prober::add_agreed_version()
{
    auto const agreed =
        report_.version == "TLSv1.3" ? wire::version::tls_1_3 : wire::version::tls_1_2;
    if (report_.find_version(agreed) != nullptr)
        return;
    auto const place = std::ranges::find_if(
        report_.versions, [&](probed_version const& each) { return each.version < agreed; });
    report_.versions.insert(place, {agreed, {report_.suite}, chooser::unknown});
}

void prober::find_versions()
{
    for (wire::version const each : wire::versions) {
        accepted_version found{each, accepted_suites(raw_, each)};
        if (found.suites.empty() && each == wire::version::tls_1_3) {
            raw_client sharing = raw_;
            sharing.share_key();
            found.suites = accepted_suites(sharing, each);
            if (!found.suites.empty())
                raw_.share_key();
        }
        if (found.suites.empty())
            continue;
        probed_version shown{each, {}, order_of(raw_, each, found.suites)};
        for (std::uint16_t const number : found.suites)
            shown.suites.emplace_back(wire::find_suite(number)->name());
        report_.versions.push_back(std::move(shown));
        accepted_.push_back(std::move(found));
    }
}

// The library cannot connect, so its view of what is preferred is not known.
void prober::prefer_the_first()
{
    probed_version const& latest = report_.versions.front();
    report_.version = name_of(latest.version);
    report_.suite = latest.suites.front();
}

void prober::find_groups()
{
    group_numbers accepted;
    for (accepted_version const& each : accepted_)
        if (each.version >= wire::version::tls_1_2 || each.version == accepted_.front().version)
            for (std::uint16_t const group : accepted_groups(raw_, each.version, each.suites))
                accepted.push_back(group);
    bool post_quantum = false;
    for (wire::named_group const& each : wire::named_groups()) {
        bool const is_accepted = std::ranges::count(accepted, each.number) > 0;
        if (is_accepted)
            report_.groups.emplace_back(each.name);
        else if (each.current)
            report_.other_groups.emplace_back(each.name);
        post_quantum = post_quantum || (is_accepted && each.post_quantum);
    }
    if (raw_.shares_key())
        report_.other_groups.clear();
    if (post_quantum || !(raw_.gave_up() || raw_.shares_key()))
        report_.post_quantum = post_quantum;
}

// The questions whose answers are sentences.
void prober::find_answers()
{
    report_.features = find_features(raw_, accepted_);
    probed_resumption const& tickets = report_.recent_tickets;
    if (tickets.offered)
        report_.features.push_back(
            {"early data", early_data_, early_data_ ? "the tickets allow it" : "no"});
    else
        report_.features.push_back({"early data", {}, "the server gave no ticket of TLS 1.3"});
    tls::context_spec renegotiating = permissive_client();
    set_renegotiating(renegotiating);
    report_.features.push_back(
        report_.find_version(wire::version::tls_1_2) != nullptr
            ? find_client_renegotiation(raw_, make_context(renegotiating))
            : probed_answer{
                  feature_name::client_renegotiation, {}, "the server does not accept TLS 1.2"});
    if (raw_.shares_key())
        report_.features.push_back(
            {"groups of TLS 1.3 but X25519", {}, "the server refuses hellos without a key share"});
    report_.features.push_back({"DTLS and STARTTLS", {}, "probe begins with TLS, over TCP"});
    report_.features.push_back(
        {"BREACH and headers of HTTP", {}, "probe does not judge what is inside TLS"});
    report_.features.push_back({"CAA records and revocation", {}, "probe asks the server only"});
    report_.vulnerabilities = find_vulnerabilities(raw_, accepted_);
    report_.vulnerabilities.push_back(find_ticketbleed(raw_, accepted_, old_ticket_));
    report_.tolerance = find_tolerance(raw_, accepted_);
    if (!raw_.gave_up())
        return;
    // The lists of suites may be short, so what they do not have proves nothing.
    for (probed_answer& each : report_.vulnerabilities)
        if (each.yes == false)
            each = {each.name, {}, "the server left ClientHellos unanswered"};
}

void prober::say_what_is_incomplete()
{
    std::vector<std::string> reasons;
    if (failures_ > 0)
        reasons.push_back(fmt::format(
            "{} of the connections failed ({}){}", failures_, failure_kind_,
            failures_ < failures_max ? "" : ", and the rest was left out"));
    if (raw_.unanswered() > 0)
        reasons.push_back(fmt::format(
            "{} ClientHellos had no answer{}", raw_.unanswered(),
            raw_.gave_up() ? ", and the rest was left out" : ""));
    report_.incomplete = fmt::format("{}", fmt::join(reasons, "; "));
}

// By elimination, as suites are found. The first that the server chooses is the one that it
// prefers; h2 is offered second, so a server that chooses it has an order of its own.
void prober::find_alpn()
{
    tls::context_spec spec = permissive_client();
    spec.alpn.assign(known_protocols.begin(), known_protocols.end());
    while (!spec.alpn.empty()) {
        visit const result = connect(spec);
        if (result.alpn.empty() || std::erase(spec.alpn, result.alpn) == 0)
            return;
        report_.alpn.push_back(result.alpn);
    }
}

// The default certificate, then one of each kind of key.
void prober::find_certificates()
{
    add_certificate(default_client_works_ ? default_client() : permissive_client());
    for (char const* each :
         {"ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512",
          "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512",
          "ed25519"}) {
        tls::context_spec spec = permissive_client();
        spec.signature_algorithms = each;
        add_certificate(spec);
    }
}

void prober::add_certificate(tls::context_spec const& spec)
{
    if (failures_ >= failures_max)
        return;
    tls::context const context = make_context(spec);
    visit_options const options{.context = &context};
    connection visitor{address_, options, options_.timeout};
    visit const result = visitor.run(options_.ticket_wait, request_);
    if (!result.established || result.chain.empty())
        return;
    tls::shown_certificate const& leaf = result.chain.front();
    for (probed_certificate const& each : report_.certificates)
        if (each.leaf.fingerprint == leaf.fingerprint)
            return;
    report_.certificates.push_back(
        {.leaf = leaf,
         .chain_length = result.chain.size(),
         .in_order = in_order(result.chain),
         .has_root = result.chain.size() > 1 && result.chain.back().self_issued,
         .trust = tls::verify_shown(
             visitor.engine(), name_, options_.authorities, options_.authorities_origin)});
}

void prober::find_names()
{
    if (report_.certificates.empty())
        return;
    // An address is not sent as SNI, so the certificates so far came without it.
    report_.without_sni =
        is_address(name_) ? sni_reaction{sni_reaction::kind::same, {}} : reaction_to({});
    report_.unknown_sni = reaction_to(unknown_name);
}

sni_reaction prober::reaction_to(std::string_view name)
{
    tls::context_spec spec = default_client_works_ ? default_client() : permissive_client();
    spec.server_name = name;
    visit const result = connect(spec);
    if (result.refused())
        return {sni_reaction::kind::refused, result.failure.kind};
    if (result.chain.empty())
        return {};
    tls::shown_certificate const& leaf = result.chain.front();
    for (probed_certificate const& each : report_.certificates)
        if (each.leaf.fingerprint == leaf.fingerprint)
            return {sni_reaction::kind::same, {}};
    return {sni_reaction::kind::different, leaf.subject};
}

void prober::find_resumption()
{
    for (library_version const each : {library_version::tls_1_3, library_version::tls_1_2}) {
        bool const recent = each == library_version::tls_1_3;
        if (report_.find_version(recent ? wire::version::tls_1_3 : wire::version::tls_1_2) ==
            nullptr)
            continue;
        tls::context_spec spec = permissive_client(each);
        spec.keep_sessions = true;
        if (recent) {
            report_.recent_tickets = resume(spec, true);
            continue;
        }
        report_.old_tickets = resume(spec, true);
        spec.want_tickets = false;
        report_.session_ids = resume(spec, false);
    }
}

// One full handshake, then several connections, each with the session of the one before.
probed_resumption prober::resume(tls::context_spec const& spec, bool by_ticket)
{
    constexpr std::size_t all = 64; // More tickets than any server sends at once.
    tls::context const context = make_context(spec);
    visit const first = connect(visit_options{.context = &context, .sessions_wanted = all});
    report_.client_certificate_required =
        report_.client_certificate_required || first.certificate_required;
    probed_resumption found;
    std::vector<tls::session> unused;
    for (tls::session const& each : first.sessions)
        if (each.by_ticket() == by_ticket)
            unused.push_back(each);
    if (unused.empty())
        return found;
    found.offered = true;
    found.tickets = by_ticket ? unused.size() : 0;
    found.lifetime = tls::kept_for(unused.back());
    if (spec.version_min == library_version::tls_1_3)
        early_data_ = unused.back().allows_early_data();
    else if (by_ticket)
        old_ticket_ = tls::ticket_of(unused.back());

    bool const recent = spec.version_min == library_version::tls_1_3;
    tls::session next = unused.back();
    unused.pop_back();
    for (; found.tried < options_.resumptions; ++found.tried) {
        tls::session const offered = tls::copy_of(next);
        visit_options const again{
            .context = &context, .offered_session = &offered, .sessions_wanted = 1};
        visit const result = connect(again);
        if (!result.established)
            continue;
        if (result.resumed) {
            ++found.resumed;
            if (result.version == report_.version)
                resumed_.push_back(result.tls);
            found.renews = found.renews || !result.sessions.empty();
        }
        if (!result.sessions.empty()) {
            next = result.sessions.back();
        } else if (recent && !unused.empty()) {
            next = unused.back();
            unused.pop_back();
        }
    }
    if (recent && found.resumed > 0)
        found.accepts_used_ticket = accepts_used_ticket(context);
    return found;
}

void prober::find_members()
{
    if (options_.fleet.empty())
        return;
    tls::context_spec recent = permissive_client(library_version::tls_1_3);
    tls::context_spec old = permissive_client(library_version::tls_1_2);
    recent.keep_sessions = old.keep_sessions = true;
    tls::context const recent_client = make_context(recent);
    tls::context const old_client = make_context(old);
    old.want_tickets = false;
    tls::context const id_client = make_context(old);
    std::vector<fleet_way> ways;
    if (report_.recent_tickets.offered)
        ways.push_back({"TLS 1.3 tickets", recent_client, true});
    if (report_.old_tickets.offered)
        ways.push_back({"TLS 1.2 tickets", old_client, true});
    if (report_.session_ids.resumed > 0)
        ways.push_back({"TLS 1.2 IDs", id_client, false});
    report_.fleet = find_fleet({address_, port_, request_, options_}, ways);
}

bool prober::accepts_used_ticket(tls::context const& context)
{
    visit const first = connect(visit_options{.context = &context, .sessions_wanted = 1});
    if (first.sessions.empty())
        return false;
    for (int i = 0; i < 2; ++i) {
        tls::session const ticket = tls::copy_of(first.sessions.front());
        if (!connect(visit_options{.context = &context, .offered_session = &ticket}).resumed)
            return false;
    }
    return true;
}

void prober::find_times()
{
    tls::context const context =
        make_context(default_client_works_ ? default_client() : permissive_client());
    std::vector<nanoseconds> tcp;
    std::vector<nanoseconds> tls;
    for (unsigned i = 0; i < options_.rounds; ++i) {
        visit const result = connect(visit_options{.context = &context});
        if (!result.established)
            continue;
        tcp.push_back(result.tcp);
        tls.push_back(result.tls);
    }
    report_.tcp = median_time(std::move(tcp));
    report_.tls_full = median_time(std::move(tls));
    report_.tls_resumed = median_time(resumed_);
}

} // namespace

bool probe_report::any_weak() const noexcept
{
    return !error.empty() ||
           std::ranges::any_of(verdict, [](probed_finding const& f) { return !f.good; });
}

std::vector<probed_answer> probe_report::not_tried() const
{
    std::vector<probed_answer> found;
    for (auto const* const list : {&features, &vulnerabilities, &tolerance})
        std::ranges::copy_if(
            *list, std::back_inserter(found), [](probed_answer const& each) { return !each.yes; });
    for (probed_member const& member : fleet) {
        std::string const name = "resumption at " + member.host;
        if (!member.error.empty())
            found.push_back({name, {}, member.error});
        for (probed_answer const& each : member.ways)
            if (!each.yes)
                found.push_back({name + " by " + each.name, {}, each.detail});
    }
    return found;
}

probed_version const* probe_report::find_version(wire::version v) const noexcept
{
    auto const found = std::ranges::find(versions, v, &probed_version::version);
    return found == versions.end() ? nullptr : &*found;
}

probe_report probe(std::string const& host, std::string const& port, probe_options const& options)
{
    probe_report report;
    report.target = joined_names(host, port);
    report.client = tls::library_version();
    report.when = std::chrono::system_clock::now();
    report.warn_days = options.warn_days;
    auto const addresses = net::resolve(host, port);
    if (!addresses || addresses->empty()) {
        report.error = fmt::format(
            "{}: no address is known for this name ({}): check the spelling, or give a number",
            report.target, addresses ? "none found" : addresses.error().message());
        return report;
    }
    prober{host, port, options, report}.run(*addresses);
    if (report.error.empty())
        report.verdict = judge(report);
    return report;
}

probe_report probe_target(std::string const& text, probe_options const& options)
{
    try {
        target const found = find_target(text);
        return probe(found.host, found.port, options);
    } catch (tls::spec_error const&) {
        throw; // The options are invalid, not this target.
    } catch (std::runtime_error const& e) {
        probe_report report;
        report.target = text;
        report.when = std::chrono::system_clock::now();
        report.error = e.what();
        return report;
    }
}

} // namespace cleat::bench
