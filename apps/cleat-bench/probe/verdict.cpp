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

using version = tls::protocol_version;

// With less time left, a failed renewal is noticed too late. Certificates that live for a few days
// are renewed in their last third.
constexpr days renewal_due{14};

// The weak suites of TLS 1.2; those of TLS 1.3 are all good.
struct suite_kinds
{
    std::vector<std::string> broken; // No encryption, or one that can be broken.
    std::vector<std::string> cbc;
    // The server's private key decrypts recorded connections.
    std::vector<std::string> no_forward_secrecy;

    explicit suite_kinds(probed_version const* offered)
    {
        if (offered == nullptr || offered->version != version::tls_1_2)
            return;
        for (std::string const& each : offered->suites) {
            bool const aead = has(each, "GCM") || has(each, "CCM") || has(each, "POLY1305");
            if (has(each, "NULL") || has(each, "RC4") || has(each, "DES") || has(each, "RC2"))
                broken.push_back(each);
            else if (!aead)
                cbc.push_back(each);
            if (!each.starts_with("ECDHE-") && !each.starts_with("DHE-"))
                no_forward_secrecy.push_back(each);
        }
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
    else if (left < renewal_due && 3 * (c.until - report.when) < c.until - c.from)
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
    if (!c.trust.name_matches)
        found.weak("{} is for other names than this", which);
    if (c.trust.verified && c.trust.name_matches)
        found.good(
            "{} verifies, {} left", which,
            counted(static_cast<std::size_t>(std::max(days_left(report, c.leaf), 0L)), "day"));
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
    }
}

void judge_versions(finding_list& found, probe_report const& report)
{
    if (report.find_version(version::tls_1_3) == nullptr)
        found.weak("TLS 1.2 only");
    else
        found.good("TLS 1.3");
    if (!report.old_versions.empty()) // RFC 8996, RFC 7568.
        found.weak("{} accepted", list_of(report.old_versions));
    probed_version const* const old = report.find_version(version::tls_1_2);
    suite_kinds const kinds{old};
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

} // namespace

std::vector<probed_finding> judge(probe_report const& report)
{
    finding_list found;
    judge_certificates(found, report);
    judge_versions(found, report);
    judge_resumption(found, report);
    return found.take();
}

} // namespace cleat::bench
