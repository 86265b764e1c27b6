// Judges what is good and what is weak about a probed server.

#include "probe/formatting.hpp"
#include "probe/probe.hpp"

#include <cleat/core/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace cleat::bench {
namespace {

// With less time left, a failed renewal is noticed too late. Certificates that live for a few days
// are renewed in their last third.
constexpr days renewal_due{14};

// The weak suites of all versions.
struct suite_kinds
{
    std::vector<std::string> broken; // No encryption, or one that can be broken.
    std::vector<std::string> cbc;
    // The server's private key decrypts recorded connections.
    std::vector<std::string> no_forward_secrecy;

    explicit suite_kinds(probe_report const& report)
    {
        for (probed_version const& offered : report.versions)
            for (std::string const& each : offered.suites)
                if (wire::cipher_suite const* const suite = wire::find_suite(each))
                    add(each, wire::traits_of(*suite));
    }

    void add(std::string const& name, wire::suite_traits const& traits)
    {
        bool const is_broken = traits.null_encryption || traits.anonymous || traits.export_grade ||
                               traits.rc4 || traits.block_64;
        if (is_broken)
            add_once(broken, name);
        else if (!traits.aead)
            add_once(cbc, name);
        if (!traits.forward_secret)
            add_once(no_forward_secrecy, name);
    }

    // A suite may be accepted in several versions.
    static void add_once(std::vector<std::string>& names, std::string const& name)
    {
        if (std::ranges::count(names, name) == 0)
            names.push_back(name);
    }

    [[nodiscard]] bool empty() const noexcept
    {
        return broken.empty() && cbc.empty() && no_forward_secrecy.empty();
    }
};

// finding_list collects sentences: weaknesses come first, the heaviest first.
class finding_list
{
public:
    template <class... Parts>
    void weak(fmt::format_string<Parts...> text, Parts&&... parts)
    {
        weak_.push_back({false, fmt::format(text, std::forward<Parts>(parts)...)});
    }
    template <class... Parts>
    void good(fmt::format_string<Parts...> text, Parts&&... parts)
    {
        good_.push_back({true, fmt::format(text, std::forward<Parts>(parts)...)});
    }

    [[nodiscard]] std::vector<probed_finding> take()
    {
        weak_.insert(
            weak_.end(), std::make_move_iterator(good_.begin()),
            std::make_move_iterator(good_.end()));
        return std::move(weak_);
    }

private:
    std::vector<probed_finding> weak_;
    std::vector<probed_finding> good_;
};

void judge_dates(
    finding_list& found, probe_report const& report, tls::shown_certificate const& c,
    std::string const& which)
{
    days const left{days_left(report, c)};
    if (c.until < report.when)
        found.weak("{} expired on {}", which, date(c.until));
    else if (c.from > report.when)
        found.weak("{} is not valid before {}", which, date(c.from));
    else if (
        report.warn_days ? left < days{*report.warn_days}
                         : left < renewal_due && 3 * (c.until - report.when) < c.until - c.from)
        found.weak(
            "{} expires in {}", which, counted(static_cast<std::size_t>(left.count()), "day"));
}

void judge_trust(
    finding_list& found, probe_report const& report, probed_certificate const& c,
    std::string const& which)
{
    bool const out_of_date = c.leaf.until < report.when || c.leaf.from > report.when;
    if (c.trust.incomplete && !c.leaf.self_issued)
        found.weak(
            "{}: chain incomplete, or its authority unknown: {} sent", which,
            counted(c.chain_length, "certificate"));
    else if (!c.trust.verified && !out_of_date)
        found.weak("{} does not verify: {}", which, c.trust.reason);
    if (!c.in_order)
        found.weak("{}: the chain is out of order", which);
    if (!c.trust.name_matches)
        found.weak("{} does not match the server name", which);
    if (c.trust.verified && c.trust.name_matches)
        found.good(
            "{} verifies, {} left", which,
            counted(static_cast<std::size_t>(std::max(days_left(report, c.leaf), 0L)), "day"));
}

bool feature_is(probe_report const& report, std::string_view name, bool yes)
{
    auto const known = std::ranges::find(report.features, name, &probed_answer::name);
    return known != report.features.end() && known->yes == yes;
}

void judge_certificates(finding_list& found, probe_report const& report)
{
    for (probed_certificate const& each : report.certificates) {
        tls::shown_certificate const& c = each.leaf;
        std::string const which =
            report.certificates.size() == 1 ? "certificate" : c.key + " certificate";
        judge_dates(found, report, c, which);
        judge_trust(found, report, each, which);
        if ((has(c.key, "RSA") && c.key_bits < 2048) || (c.key == "ECDSA" && c.key_bits < 256))
            found.weak("{}: a key that can be broken", key_of(c));
        if (has(c.signature, "SHA1") || has(c.signature, "MD5"))
            found.weak("{} is signed with {}", which, c.signature);
        if (c.must_staple && feature_is(report, feature_name::staple, false))
            found.weak("{}: clients want a stapled OCSP response, and there is none", which);
    }
}

void judge_versions(finding_list& found, probe_report const& report)
{
    std::vector<std::string> const old = old_versions(report);
    bool const has_1_2 = report.find_version(wire::version::tls_1_2) != nullptr;
    if (report.find_version(wire::version::tls_1_3) == nullptr)
        found.weak(
            "{}", !has_1_2      ? "neither TLS 1.2 nor TLS 1.3"
                  : old.empty() ? "TLS 1.2 only"
                                : "no TLS 1.3");
    else
        found.good("TLS 1.3");
    if (!old.empty())
        found.weak("{} accepted", list_of(old));
    suite_kinds const kinds{report};
    if (!kinds.broken.empty())
        found.weak("broken suites accepted: {}", list_of(kinds.broken));
    if (!kinds.no_forward_secrecy.empty())
        found.weak(
            "{} without forward secrecy accepted",
            counted(kinds.no_forward_secrecy.size(), "suite"));
    if (!kinds.cbc.empty())
        found.weak("CBC suites accepted ({})", kinds.cbc.size());
    if (kinds.empty())
        found.good("forward secrecy and authenticated encryption only");
    if (!report.post_quantum)
        return;
    if (*report.post_quantum)
        found.good("post-quantum key exchange ({})", report.groups.front());
    else
        found.weak("no post-quantum group");
}

void judge_resumption(finding_list& found, probe_report const& report)
{
    using way = std::pair<std::string_view, probed_resumption const*>;
    std::array<way, 3> const ways{
        {{"TLS 1.3 tickets", &report.recent_tickets},
         {"TLS 1.2 tickets", &report.old_tickets},
         {"TLS 1.2 session IDs", &report.session_ids}}};
    std::vector<std::string> working;
    for (auto const& [name, each] : ways) {
        // Many servers send session IDs and resume none.
        bool const empty_ids = each == &report.session_ids && each->resumed == 0;
        if (each->offered && each->resumed < each->tried && !empty_ids)
            found.weak(
                "{}: resumed {} of {} times: do the servers behind this address share their keys?",
                name, each->resumed, each->tried);
        if (each->resumed > 0)
            working.emplace_back(name);
    }
    if (report.recent_tickets.lifetime > limits::ticket_lifetime_max)
        found.weak("TLS 1.3 tickets live longer than the seven days that RFC 8446 allows");
    if (working.empty())
        found.weak("no resumption");
    else
        found.good("resumption by {}", list_of(working));
}

void judge_features(finding_list& found, probe_report const& report)
{
    auto const is = [&](std::string_view name, bool yes) { return feature_is(report, name, yes); };
    if (is(feature_name::secure_renegotiation, false))
        found.weak("no secure renegotiation (RFC 5746)");
    if (is(feature_name::client_renegotiation, true))
        found.weak("clients may renegotiate: each costs a handshake, and no connection");
    if (is(feature_name::compression, true))
        found.weak("compression accepted (CRIME)");
    if (is(feature_name::extended_master_secret, false))
        found.weak("no extended master secret (RFC 7627)");
    // Between TLS 1.3 and TLS 1.2 the server's random shows a fallback (RFC 8446, section 4.1.3).
    if (is(feature_name::fallback_signal, false) && !old_versions(report).empty())
        found.weak("fallback to an old version is not noticed (RFC 7507)");
}

void judge_vulnerabilities(finding_list& found, probe_report const& report)
{
    std::size_t absent = 0;
    for (probed_answer const& each : report.vulnerabilities) {
        absent += each.yes == false ? 1U : 0U;
        if (each.yes == true)
            found.weak("vulnerable to {}: {}", each.name, each.detail);
    }
    if (absent > 0)
        found.good("not vulnerable to {} of the known attacks", absent);
    std::vector<std::string> refused;
    for (probed_answer const& each : report.tolerance)
        if (each.yes == false)
            refused.push_back(each.name);
    if (!refused.empty())
        found.weak("intolerant of {}", list_of(refused));
}

void judge_fleet(finding_list& found, probe_report const& report)
{
    bool all = !report.fleet.empty();
    for (probed_member const& member : report.fleet) {
        std::vector<std::string> missing;
        for (probed_answer const& each : member.ways)
            if (each.yes == false)
                missing.push_back(each.name);
        all = all && missing.empty() && std::ranges::count(member.ways, true, [](auto const& way) {
                                            return way.yes == true;
                                        }) > 0;
        if (!missing.empty())
            found.weak(
                "{} does not resume sessions of {}: {}", member.address, report.address,
                list_of(missing));
    }
    if (all)
        found.good("the fleet shares its sessions");
}

} // namespace

std::vector<probed_finding> judge(probe_report const& report)
{
    finding_list found;
    judge_certificates(found, report);
    judge_versions(found, report);
    judge_features(found, report);
    judge_vulnerabilities(found, report);
    judge_resumption(found, report);
    judge_fleet(found, report);
    return found.take();
}

} // namespace cleat::bench
