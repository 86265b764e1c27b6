// What is to be found out is a story of visits, each in a function of `prober`. More than 400
// lines: they are short, and each is of use only beside the others.

#include "generate/outcome.hpp"
#include "generate/target.hpp"
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

// After this many connections in vain the server is left alone: it may be limiting us.
constexpr unsigned broken_max = 3;

constexpr std::string_view unknown_name = "cleat-probe.invalid"; // RFC 6761, section 6.4.

std::string joined(std::string_view host, std::string_view port)
{
    return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                    : fmt::format("[{}]:{}", host, port);
}

std::string list_of(std::vector<std::string> const& names)
{
    return fmt::format("{}", fmt::join(names, ":"));
}

std::optional<nanoseconds> median(std::vector<nanoseconds> of)
{
    if (of.empty())
        return {};
    auto const middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::ranges::nth_element(of, middle);
    return *middle;
}

// prober probes one server. Each of its questions may leave its part of the report empty.
class prober
{
public:
    prober(
        std::string const& host, std::string const& port, probe_options const& options,
        probe_report& into)
        : options_{options}
        , into_{into}
        , name_{options.server_name.empty() ? server_name_of(host) : options.server_name}
        , request_{fmt::format(
              "GET / HTTP/1.1\r\nHost: {}\r\nUser-Agent: cleat-bench\r\nConnection: close\r\n\r\n",
              host_field(name_, port))}
    {
    }

    void run(std::vector<net::address> const& addresses)
    {
        if (!introduce(addresses))
            return;
        find_versions();
        find_old_versions();
        for (probed_version& each : into_.versions)
            find_suites(each);
        find_groups();
        find_alpn();
        find_certificates();
        find_names();
        find_resumption();
        find_times();
        if (broken_ > 0)
            into_.incomplete = fmt::format(
                "{} of the connections failed ({}){}", broken_, broken_kind_,
                broken_ < broken_max ? "" : ", and the rest was left out");
    }

private:
    // The plain client: cleat's defaults, so that what is agreed is what its users get.
    [[nodiscard]] tls::context_spec plain() const
    {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.server_name = name_;
        return spec;
    }

    // The client that takes anything, in one version or in all.
    [[nodiscard]] tls::context_spec broad(std::optional<version> only = {}) const
    {
        tls::context_spec spec = plain();
        spec.ciphers = list_of(suites_1_2_);
        spec.groups = list_of(groups_);
        if (only)
            spec.version_min = spec.version_max = *only;
        return spec;
    }

    static tls::context context_of(tls::context_spec const& spec)
    {
        tls::context made{spec};
        tls::accept_weak(made, spec);
        return made;
    }

    visit go(wish const& for_what)
    {
        if (broken_ >= broken_max)
            return {};
        connection one{address_, for_what, options_.timeout};
        visit told = one.take(options_.ticket_wait, request_);
        if (!told.established && !told.refused()) {
            ++broken_;
            broken_kind_ = fmt::format("{}: {}", name_of(told.where), told.failure.kind);
        }
        return told;
    }

    visit go(tls::context_spec const& spec)
    {
        tls::context const use = context_of(spec);
        return go(wish{.use = &use});
    }

    bool introduce(std::vector<net::address> const& addresses);
    void find_versions();
    void find_old_versions();
    void find_suites(probed_version& in);
    chooser find_order(probed_version const& in);
    void find_groups();
    [[nodiscard]] bool accepts_group(std::string const& group, version in);
    void find_alpn();
    void find_certificates();
    void add_certificate(tls::context_spec const& spec);
    void find_names();
    probed_answer answer_to(std::string_view name);
    void find_resumption();
    probed_resumption resume(tls::context_spec const& spec, bool by_ticket);
    bool taken_twice(tls::context const& use);
    void find_times();

    probe_options const& options_;
    probe_report& into_;
    std::string name_;
    std::string request_;
    net::address address_;
    std::vector<std::string> suites_1_2_ = tls::offerable_suites(version::tls_1_2);
    std::vector<std::string> suites_1_3_ = tls::offerable_suites(version::tls_1_3);
    std::vector<std::string> groups_ = tls::offerable_groups();
    bool plain_works_ = true;
    std::vector<nanoseconds> resumed_;
    unsigned broken_ = 0;
    std::string broken_kind_;
};

// The first connection: it finds the address that answers, and says why where none does.
bool prober::introduce(std::vector<net::address> const& addresses)
{
    visit told;
    std::span<net::address const> rest{addresses};
    for (tls::context_spec const& spec : {plain(), broad(), broad(version::tls_1_2)}) {
        for (; !rest.empty(); rest = rest.subspan(1)) {
            address_ = rest.front();
            told = go(spec);
            broken_ = 0; // What does not answer here is not the one that is probed.
            if (told.failure.connected)
                break;
        }
        if (told.established || !told.refused() || told.error == error::not_tls ||
            told.error == error::http_request)
            break;
        plain_works_ = false; // And the next is less demanding.
    }
    into_.address = net::to_string(address_);
    if (!told.established) {
        if (told.failure.connected && told.failure.first_bytes.empty() && told.failure.alert < 0)
            told.failure.first_bytes =
                plain_answer(address_, request_, std::min(options_.timeout, options_.ticket_wait));
        into_.error = sentence_on(into_.target, options_.timeout, told.failure);
        return false;
    }
    into_.version = told.version;
    into_.suite = told.suite;
    into_.group = told.group;
    into_.signature_scheme = told.scheme;
    return true;
}

void prober::find_versions()
{
    for (version const each : {version::tls_1_3, version::tls_1_2}) {
        bool const known = into_.version == (each == version::tls_1_3 ? "TLSv1.3" : "TLSv1.2");
        if (known || go(broad(each)).established)
            into_.versions.push_back({.version = each, .suites = {}, .order = chooser::unknown});
    }
}

// No library of ours would shake hands in these: the first word of the answer has to do.
void prober::find_old_versions()
{
    std::string const name = is_address(name_) ? std::string{} : name_;
    for (old_version const each : old_versions) {
        if (broken_ >= broken_max)
            return;
        std::string const answer = first_answer(
            address_, old_hello(each, name), chosen_version_size,
            std::min(options_.timeout, options_.ticket_wait));
        if (chosen_version(answer) == static_cast<std::uint16_t>(each))
            into_.old_versions.emplace_back(name_of(each));
    }
}

// Offer all; what is chosen is accepted, and not offered again. A refusal ends it, unless it was
// for something else: then each of the rest is offered alone.
void prober::find_suites(probed_version& in)
{
    bool const recent = in.version == version::tls_1_3;
    auto const spec_for = [&](std::vector<std::string> const& suites) {
        tls::context_spec spec = broad(in.version);
        (recent ? spec.ciphersuites : spec.ciphers) = list_of(suites);
        return spec;
    };
    std::vector<std::string> rest = recent ? suites_1_3_ : suites_1_2_;
    while (!rest.empty()) {
        visit const told = go(spec_for(rest));
        if (!told.established) {
            bool const of_server = told.failure.alert >= 0 || told.failure.kind == "closed early";
            if (told.refused() && !of_server)
                for (std::string const& each : rest)
                    if (go(spec_for({each})).established)
                        in.suites.push_back(each);
            break;
        }
        if (std::erase(rest, told.suite) == 0)
            break; // It chose what was not offered, and the library let it.
        in.suites.push_back(told.suite);
    }
    in.order = find_order(in);
}

// Two suites in both orders: a client's choice follows. Not with ChaCha20, which servers move
// forward for clients without AES in hardware.
chooser prober::find_order(probed_version const& in)
{
    std::vector<std::string> pair;
    for (std::string const& each : in.suites)
        if (pair.size() < 2 && each.find("CHACHA20") == std::string::npos)
            pair.push_back(each);
    if (pair.size() < 2)
        return chooser::unknown;
    auto const chosen = [&] {
        tls::context_spec spec = broad(in.version);
        (in.version == version::tls_1_3 ? spec.ciphersuites : spec.ciphers) = list_of(pair);
        return go(spec).suite;
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
    version const in = into_.versions.front().version;
    for (std::string const& each : groups_)
        (accepts_group(each, in) ? into_.groups : into_.other_groups).push_back(each);
    constexpr std::string_view post_quantum = "MLKEM";
    auto const is_one = [&](std::string const& g) {
        return g.find(post_quantum) != std::string::npos;
    };
    if (std::ranges::any_of(groups_, is_one))
        into_.post_quantum = std::ranges::any_of(into_.groups, is_one);
}

bool prober::accepts_group(std::string const& group, version in)
{
    tls::context_spec spec = broad(in);
    spec.groups = group;
    if (go(spec).group == group)
        return true;
    // In TLS 1.2 the groups are also the curves that a certificate may be on (RFC 8422, 5.1.1).
    if (in == version::tls_1_3)
        return false;
    for (std::string_view const curve : {"P-256", "P-384"}) {
        if (curve == group)
            continue;
        spec.groups = fmt::format("{}:{}", group, curve);
        if (go(spec).group == group)
            return true;
    }
    return false;
}

void prober::find_alpn()
{
    tls::context_spec spec = broad();
    std::vector<std::string> const both{"h2", "http/1.1"};
    for (std::string const& each : both) {
        spec.alpn = {each};
        if (go(spec).alpn == each)
            into_.alpn.push_back(each);
    }
    if (into_.alpn.size() < 2)
        return;
    // Ours comes second: whoever takes it all the same has an order of its own.
    spec.alpn = {"http/1.1", "h2"};
    if (go(spec).alpn == "http/1.1")
        std::ranges::reverse(into_.alpn);
}

// The default, and then one of each kind that a client can insist on.
void prober::find_certificates()
{
    add_certificate(plain_works_ ? plain() : broad());
    for (char const* each :
         {"ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512",
          "RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:RSA+SHA256:RSA+SHA384:RSA+SHA512",
          "ed25519"}) {
        tls::context_spec spec = broad();
        spec.signature_algorithms = each;
        add_certificate(spec);
    }
}

void prober::add_certificate(tls::context_spec const& spec)
{
    if (broken_ >= broken_max)
        return;
    tls::context const use = context_of(spec);
    wish const for_what{.use = &use};
    connection one{address_, for_what, options_.timeout};
    visit const told = one.take(options_.ticket_wait, request_);
    if (!told.established || told.chain.empty())
        return;
    tls::shown_certificate const& leaf = told.chain.front();
    for (probed_certificate const& each : into_.certificates)
        if (each.leaf.fingerprint == leaf.fingerprint)
            return;
    into_.certificates.push_back(
        {.leaf = leaf,
         .chain_length = told.chain.size(),
         .trust = tls::verify_shown(
             one.engine(), name_, options_.authorities, options_.authorities_origin)});
}

void prober::find_names()
{
    if (into_.certificates.empty())
        return;
    // An address is not sent as SNI: then what is known already is what comes without.
    into_.without_sni =
        is_address(name_) ? probed_answer{probed_answer::kind::same, {}} : answer_to({});
    into_.unknown_sni = answer_to(unknown_name);
}

probed_answer prober::answer_to(std::string_view name)
{
    tls::context_spec spec = plain_works_ ? plain() : broad();
    spec.server_name = name;
    visit const told = go(spec);
    if (told.refused())
        return {probed_answer::kind::refused, told.failure.kind};
    if (told.chain.empty())
        return {};
    tls::shown_certificate const& leaf = told.chain.front();
    for (probed_certificate const& each : into_.certificates)
        if (each.leaf.fingerprint == leaf.fingerprint)
            return {probed_answer::kind::same, {}};
    return {probed_answer::kind::different, leaf.subject};
}

void prober::find_resumption()
{
    for (probed_version const& each : into_.versions) {
        tls::context_spec spec = broad(each.version);
        spec.keep_sessions = true;
        if (each.version == version::tls_1_3) {
            into_.recent_tickets = resume(spec, true);
            continue;
        }
        into_.old_tickets = resume(spec, true);
        spec.want_tickets = false;
        into_.session_ids = resume(spec, false);
    }
}

// One full handshake, and then connection after connection with what the one before has brought.
probed_resumption prober::resume(tls::context_spec const& spec, bool by_ticket)
{
    constexpr std::size_t all = 64; // More tickets than any server gives at once.
    tls::context const use = context_of(spec);
    visit const first = go(wish{.use = &use, .sessions_wanted = all});
    into_.client_certificate_required =
        into_.client_certificate_required || first.certificate_required;
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
    tls::session with = unused.back();
    unused.pop_back();
    for (; found.tried < options_.resumptions; ++found.tried) {
        tls::session const offered = tls::copy_of(with);
        wish const again{.use = &use, .offered = &offered, .sessions_wanted = 1};
        visit const told = go(again);
        if (!told.established)
            continue;
        if (told.resumed) {
            ++found.resumed;
            if (told.version == into_.version)
                resumed_.push_back(told.tls);
            found.renews = found.renews || !told.sessions.empty();
        }
        if (!told.sessions.empty()) {
            with = told.sessions.back();
        } else if (recent && !unused.empty()) {
            with = unused.back();
            unused.pop_back();
        }
    }
    if (recent && found.resumed > 0)
        found.twice = taken_twice(use);
    return found;
}

bool prober::taken_twice(tls::context const& use)
{
    visit const first = go(wish{.use = &use, .sessions_wanted = 1});
    if (first.sessions.empty())
        return false;
    for (int i = 0; i < 2; ++i) {
        tls::session const ticket = tls::copy_of(first.sessions.front());
        if (!go(wish{.use = &use, .offered = &ticket}).resumed)
            return false;
    }
    return true;
}

void prober::find_times()
{
    tls::context const use = context_of(plain_works_ ? plain() : broad());
    std::vector<nanoseconds> tcp;
    std::vector<nanoseconds> tls;
    for (unsigned i = 0; i < options_.rounds; ++i) {
        visit const told = go(wish{.use = &use});
        if (!told.established)
            continue;
        tcp.push_back(told.tcp);
        tls.push_back(told.tls);
    }
    into_.tcp = median(std::move(tcp));
    into_.tls_full = median(std::move(tls));
    into_.tls_resumed = median(resumed_);
}

} // namespace

bool probe_report::any_weak() const noexcept
{
    return !error.empty() ||
           std::ranges::any_of(verdict, [](probed_finding const& f) { return !f.good; });
}

probed_version const* probe_report::offers(tls::protocol_version v) const noexcept
{
    auto const found = std::ranges::find(versions, v, &probed_version::version);
    return found == versions.end() ? nullptr : &*found;
}

probe_report probe(std::string const& host, std::string const& port, probe_options const& options)
{
    probe_report report;
    report.target = joined(host, port);
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
        throw; // Of the options, not of this target.
    } catch (std::runtime_error const& wrong) {
        probe_report report;
        report.target = text;
        report.when = std::chrono::system_clock::now();
        report.error = wrong.what();
        return report;
    }
}

} // namespace cleat::bench
