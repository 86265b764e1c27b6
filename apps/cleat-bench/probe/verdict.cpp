// What is good and what is weak about a server that was probed.

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

// With less than this, a renewal that fails is noticed too late; those that live for a few days
// only are renewed in their last third.
constexpr days renewal_due{14};

// What is said about the suites of TLS 1.2; those of TLS 1.3 are all good.
struct suite_kinds
{
    std::vector<std::string> broken; // No encryption worth the name.
    std::vector<std::string> cbc;
    std::vector<std::string> lasting; // Whoever gets the key later can read all that was recorded.

    explicit suite_kinds(probed_version const* in)
    {
        if (in == nullptr || in->version != version::tls_1_2)
            return;
        for (std::string const& each : in->suites) {
            bool const aead = has(each, "GCM") || has(each, "CCM") || has(each, "POLY1305");
            if (has(each, "NULL") || has(each, "RC4") || has(each, "DES") || has(each, "RC2"))
                broken.push_back(each);
            else if (!aead)
                cbc.push_back(each);
            if (!each.starts_with("ECDHE-") && !each.starts_with("DHE-"))
                lasting.push_back(each);
        }
    }

    [[nodiscard]] bool empty() const noexcept
    {
        return broken.empty() && cbc.empty() && lasting.empty();
    }
};

// verdict collects sentences: what is against a server comes first, in the order of its weight.
class verdict
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
    verdict& on, probe_report const& of, tls::shown_certificate const& c, std::string const& which)
{
    days const left{days_left(of, c)};
    if (c.until < of.when)
        on.weak("{} expired on {}", which, date(c.until));
    else if (c.from > of.when)
        on.weak("{} is not valid before {}", which, date(c.from));
    else if (left < renewal_due && 3 * (c.until - of.when) < c.until - c.from)
        on.weak("{} expires in {}", which, many(static_cast<std::size_t>(left.count()), "day"));
}

void judge_trust(
    verdict& on, probe_report const& of, probed_certificate const& c, std::string const& which)
{
    bool const out_of_date = c.leaf.until < of.when || c.leaf.from > of.when;
    if (c.trust.incomplete && !c.leaf.self_issued)
        on.weak(
            "{}: chain incomplete, or its authority unknown: {} sent", which,
            many(c.chain_length, "certificate"));
    else if (!c.trust.verified && !out_of_date)
        on.weak("{} does not verify: {}", which, c.trust.reason);
    if (!c.trust.name_matches)
        on.weak("{} is for other names than this", which);
    if (c.trust.verified && c.trust.name_matches)
        on.good(
            "{} verifies, {} left", which,
            many(static_cast<std::size_t>(std::max(days_left(of, c.leaf), 0L)), "day"));
}

void judge_certificates(verdict& on, probe_report const& of)
{
    for (probed_certificate const& each : of.certificates) {
        tls::shown_certificate const& c = each.leaf;
        std::string const which =
            of.certificates.size() == 1 ? "certificate" : c.key + " certificate";
        judge_dates(on, of, c, which);
        judge_trust(on, of, each, which);
        if ((has(c.key, "RSA") && c.key_bits < 2048) || (c.key == "ECDSA" && c.key_bits < 256))
            on.weak("{}: a key that can be broken", key_of(c));
        if (has(c.signature, "SHA1") || has(c.signature, "MD5"))
            on.weak("{} is signed with {}", which, c.signature);
    }
}

void judge_versions(verdict& on, probe_report const& of)
{
    if (of.offers(version::tls_1_3) == nullptr)
        on.weak("TLS 1.2 only");
    else
        on.good("TLS 1.3");
    if (!of.old_versions.empty()) // RFC 8996, RFC 7568.
        on.weak("{} accepted", list_of(of.old_versions));
    probed_version const* const old = of.offers(version::tls_1_2);
    suite_kinds const kinds{old};
    if (!kinds.broken.empty())
        on.weak("broken suites accepted: {}", list_of(kinds.broken));
    if (!kinds.lasting.empty())
        on.weak("{} without forward secrecy accepted", many(kinds.lasting.size(), "suite"));
    if (!kinds.cbc.empty())
        on.weak("CBC suites accepted ({})", kinds.cbc.size());
    if (kinds.empty())
        on.good("forward secrecy and authenticated encryption only");
    if (!of.post_quantum)
        return;
    if (*of.post_quantum)
        on.good("post-quantum key exchange ({})", of.groups.front());
    else
        on.weak("no post-quantum group");
}

void judge_resumption(verdict& on, probe_report const& of)
{
    using way = std::pair<std::string_view, probed_resumption const*>;
    std::array<way, 3> const ways{
        {{"TLS 1.3 tickets", &of.recent_tickets},
         {"TLS 1.2 tickets", &of.old_tickets},
         {"TLS 1.2 session IDs", &of.session_ids}}};
    std::vector<std::string> works;
    for (auto const& [name, each] : ways) {
        // Many servers give IDs by which nothing is resumed.
        bool const empty_ids = each == &of.session_ids && each->resumed == 0;
        if (each->offered && each->resumed < each->tried && !empty_ids)
            on.weak(
                "{}: resumed {} of {} times: do the servers behind this address share their keys?",
                name, each->resumed, each->tried);
        if (each->resumed > 0)
            works.emplace_back(name);
    }
    if (of.recent_tickets.lifetime > limits::ticket_lifetime_max)
        on.weak("TLS 1.3 tickets live longer than the seven days that RFC 8446 allows");
    if (works.empty())
        on.weak("no resumption");
    else
        on.good("resumption by {}", list_of(works));
}

} // namespace

std::vector<probed_finding> judge(probe_report const& of)
{
    verdict on;
    judge_certificates(on, of);
    judge_versions(on, of);
    judge_resumption(on, of);
    return on.take();
}

} // namespace cleat::bench
