// Each question about a server is a function of `prober`, which makes some visits. More than 400
// lines: the functions are short, and are used together only.

#include "generate/outcome.hpp"
#include "generate/target.hpp"
#include "probe/failure.hpp"
#include "probe/old_hello.hpp"
#include "probe/probe.hpp"
#include "probe/visit.hpp"

#include <cleat/tls/alert.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using version = tls::protocol_version;

// After so many failed connections the probe ends: the server may be limiting us.
constexpr unsigned failures_max = 3;

constexpr std::string_view unknown_name = "cleat-probe.invalid"; // RFC 6761, section 6.4.

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
        , name_{options.server_name.empty() ? server_name_of(host) : options.server_name}
        , request_{fmt::format(
              "GET / HTTP/1.1\r\nHost: {}\r\nUser-Agent: cleat-bench\r\nConnection: close\r\n\r\n",
              host_field(name_, port))}
    {
    }

    void run(std::vector<net::address> const& addresses)
    {
        if (!find_address(addresses))
            return;
        find_versions();
        find_old_versions();
        for (probed_version& each : report_.versions)
            find_suites(each);
        find_groups();
        find_alpn();
        find_certificates();
        find_names();
        find_resumption();
        find_times();
        if (failures_ > 0)
            report_.incomplete = fmt::format(
                "{} of the connections failed ({}){}", failures_, failure_kind_,
                failures_ < failures_max ? "" : ", and the rest was left out");
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
    [[nodiscard]] tls::context_spec permissive_client(std::optional<version> only = {}) const
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
    void find_old_versions();
    void find_suites(probed_version& offered);
    chooser find_order(probed_version const& offered);
    void find_groups();
    [[nodiscard]] bool accepts_group(std::string const& group, version tls_version);
    void find_alpn();
    void find_certificates();
    void add_certificate(tls::context_spec const& spec);
    void find_names();
    sni_reaction reaction_to(std::string_view name);
    void find_resumption();
    probed_resumption resume(tls::context_spec const& spec, bool by_ticket);
    bool accepts_used_ticket(tls::context const& context);
    void find_times();

    probe_options const& options_;
    probe_report& report_;
    std::string name_;
    std::string request_;
    net::address address_;
    std::vector<std::string> suites_1_2_ = tls::offerable_suites(version::tls_1_2);
    std::vector<std::string> suites_1_3_ = tls::offerable_suites(version::tls_1_3);
    std::vector<std::string> groups_ = tls::offerable_groups();
    bool default_client_works_ = true;
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
         {default_client(), permissive_client(), permissive_client(version::tls_1_2)}) {
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
    return true;
}

void prober::find_versions()
{
    for (version const each : {version::tls_1_3, version::tls_1_2}) {
        bool const known = report_.version == (each == version::tls_1_3 ? "TLSv1.3" : "TLSv1.2");
        if (known || connect(permissive_client(each)).established)
            report_.versions.push_back({.version = each, .suites = {}, .order = chooser::unknown});
    }
}

// No library of ours supports these versions, so the ServerHello has to be enough.
void prober::find_old_versions()
{
    std::string const name = is_address(name_) ? std::string{} : name_;
    for (old_version const each : old_versions) {
        if (failures_ >= failures_max)
            return;
        std::string const answer = first_answer(
            address_, old_hello(each, name), chosen_version_size,
            std::min(options_.timeout, options_.ticket_wait));
        if (chosen_version(answer) == static_cast<std::uint16_t>(each))
            report_.old_versions.emplace_back(name_of(each));
    }
}

// Offers all suites; the chosen one is accepted, and is not offered again. A refusal by the server
// ends this. A failure on our side does not: then each of the rest is offered alone.
void prober::find_suites(probed_version& offered)
{
    bool const recent = offered.version == version::tls_1_3;
    auto const spec_for = [&](std::vector<std::string> const& suites) {
        tls::context_spec spec = permissive_client(offered.version);
        (recent ? spec.ciphersuites : spec.ciphers) = colon_list(suites);
        return spec;
    };
    std::vector<std::string> rest = recent ? suites_1_3_ : suites_1_2_;
    while (!rest.empty()) {
        visit const result = connect(spec_for(rest));
        if (!result.established) {
            bool const by_server =
                result.failure.alert >= 0 || result.failure.kind == "closed early";
            if (result.refused() && !by_server)
                for (std::string const& each : rest)
                    if (connect(spec_for({each})).established)
                        offered.suites.push_back(each);
            break;
        }
        if (std::erase(rest, result.suite) == 0)
            break; // The server chose a suite that was not offered, and the library accepted it.
        offered.suites.push_back(result.suite);
    }
    offered.order = find_order(offered);
}

// Offers two suites in both orders: if the client's order decides, the choice changes. Not with
// ChaCha20, which servers prefer for clients without AES in hardware.
chooser prober::find_order(probed_version const& offered)
{
    std::vector<std::string> pair;
    for (std::string const& each : offered.suites)
        if (pair.size() < 2 && each.find("CHACHA20") == std::string::npos)
            pair.push_back(each);
    if (pair.size() < 2)
        return chooser::unknown;
    auto const chosen = [&] {
        tls::context_spec spec = permissive_client(offered.version);
        (offered.version == version::tls_1_3 ? spec.ciphersuites : spec.ciphers) = colon_list(pair);
        return connect(spec).suite;
    };
    std::string const one = chosen();
    std::ranges::reverse(pair);
    std::string const other = chosen();
    if (one.empty() || other.empty())
        return chooser::unknown;
    return one == other ? chooser::server : chooser::client;
}

void prober::find_groups()
{
    version const preferred = report_.versions.front().version;
    for (std::string const& each : groups_)
        (accepts_group(each, preferred) ? report_.groups : report_.other_groups).push_back(each);
    constexpr std::string_view post_quantum = "MLKEM";
    auto const is_one = [&](std::string const& g) {
        return g.find(post_quantum) != std::string::npos;
    };
    if (std::ranges::any_of(groups_, is_one))
        report_.post_quantum = std::ranges::any_of(report_.groups, is_one);
}

bool prober::accepts_group(std::string const& group, version tls_version)
{
    tls::context_spec spec = permissive_client(tls_version);
    spec.groups = group;
    if (connect(spec).group == group)
        return true;
    // In TLS 1.2 the groups are also the curves that a certificate may be on (RFC 8422, 5.1.1).
    if (tls_version == version::tls_1_3)
        return false;
    for (std::string_view const curve : {"P-256", "P-384"}) {
        if (curve == group)
            continue;
        spec.groups = fmt::format("{}:{}", group, curve);
        if (connect(spec).group == group)
            return true;
    }
    return false;
}

void prober::find_alpn()
{
    tls::context_spec spec = permissive_client();
    std::vector<std::string> const both{"h2", "http/1.1"};
    for (std::string const& each : both) {
        spec.alpn = {each};
        if (connect(spec).alpn == each)
            report_.alpn.push_back(each);
    }
    if (report_.alpn.size() < 2)
        return;
    // A server that takes h2, now offered second, has an order of its own.
    spec.alpn = {"http/1.1", "h2"};
    if (connect(spec).alpn == "http/1.1")
        std::ranges::reverse(report_.alpn);
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
    for (probed_version const& each : report_.versions) {
        tls::context_spec spec = permissive_client(each.version);
        spec.keep_sessions = true;
        if (each.version == version::tls_1_3) {
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

    bool const recent = spec.version_min == version::tls_1_3;
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

probed_version const* probe_report::find_version(tls::protocol_version v) const noexcept
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
