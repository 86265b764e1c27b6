// The report of a probe as text: a page for one server, a line for one in a list.

#include "probe/formatting.hpp"
#include "probe/probe.hpp"
#include "text/times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace cleat::bench {
namespace {

std::string time_left(probe_report const& report, tls::shown_certificate const& c)
{
    if (c.until < report.when)
        return "expired";
    return counted(static_cast<std::size_t>(days_left(report, c)), "day") + " left";
}

std::string duration_text(std::optional<std::chrono::nanoseconds> t)
{
    return t ? in_words(static_cast<double>(t->count())) : "unknown";
}

void add_row(std::string& text, std::string_view name, std::string const& value)
{
    fmt::format_to(std::back_inserter(text), "  {:17} {}\n", name, value);
}

void add_versions(std::string& text, probe_report const& report)
{
    std::vector<std::string> names;
    for (probed_version const& each : report.versions)
        names.emplace_back(name_of(each.version));
    add_row(text, "versions", list_of(names));
    for (probed_version const& each : report.versions) {
        std::string_view const order = each.order == chooser::server   ? "; the server chooses"
                                       : each.order == chooser::client ? "; the client chooses"
                                                                       : "";
        add_row(
            text, fmt::format("{} suites", name_of(each.version)),
            fmt::format("{} accepted{}", each.suites.size(), order));
        for (std::string const& suite : each.suites)
            add_row(text, "", suite);
    }
    add_row(
        text, "groups",
        fmt::format(
            "{}{}", list_of(report.groups),
            report.other_groups.empty() ? "" : "; not " + list_of(report.other_groups)));
    add_row(
        text, "post-quantum",
        !report.post_quantum   ? "unknown"
        : *report.post_quantum ? fmt::format("yes ({})", report.groups.front())
                               : "no");
    add_row(
        text, "ALPN",
        report.alpn.size() >= 2
            ? fmt::format("{} (prefers {})", list_of(report.alpn), report.alpn.front())
            : list_of(report.alpn));
}

std::string revocation_of(tls::shown_certificate const& c)
{
    std::vector<std::string> ways;
    for (std::string const& each : c.crls)
        ways.push_back("CRL " + each);
    for (std::string const& each : c.responders)
        ways.push_back("OCSP " + each);
    if (c.must_staple)
        ways.emplace_back("clients want a stapled response");
    return ways.empty() ? "names no CRL and no OCSP responder" : list_of(ways);
}

void add_certificate(std::string& text, probe_report const& report, probed_certificate const& each)
{
    tls::shown_certificate const& c = each.leaf;
    add_row(
        text, "certificate",
        fmt::format(
            "{}, signed with {}{}", key_of(c), c.signature, c.self_issued ? ", self-signed" : ""));
    add_row(text, "  subject", c.subject.empty() ? "(empty)" : c.subject);
    add_row(text, "  names", list_of(c.names));
    add_row(text, "  issuer", c.issuer);
    add_row(
        text, "  valid",
        fmt::format("{} to {} ({})", date(c.from), date(c.until), time_left(report, c)));
    add_row(
        text, "  chain",
        fmt::format(
            "{} sent{}{}; {}", counted(each.chain_length, "certificate"),
            each.in_order ? "" : ", out of order", each.has_root ? ", with the root" : "",
            each.trust.verified ? "verifies" : "does not verify: " + each.trust.reason));
    add_row(text, "  for this name", each.trust.name_matches ? "yes" : "no");
    add_row(text, "  revocation", revocation_of(c));
    add_row(text, "  transparency", c.has_timestamps ? "timestamps in the certificate" : "no");
}

void add_answers(std::string& text, probe_report const& report)
{
    for (probed_answer const& each : report.features)
        if (each.yes)
            add_row(text, each.name, each.detail);
    for (probed_answer const& each : report.vulnerabilities)
        add_row(
            text, each.name,
            fmt::format(
                "{}: {}",
                !each.yes   ? "not tried"
                : *each.yes ? "vulnerable"
                            : "not vulnerable",
                each.detail));
    std::vector<std::string> refused;
    std::size_t tried = 0;
    for (probed_answer const& each : report.tolerance) {
        tried += each.yes ? 1U : 0U;
        if (each.yes && !*each.yes)
            refused.push_back(fmt::format("{} ({})", each.name, each.detail));
    }
    if (tried > 0)
        add_row(
            text, "unusual hellos",
            refused.empty() ? fmt::format("all {} accepted", tried)
                            : fmt::format(
                                  "{} of {} accepted; not {}", tried - refused.size(), tried,
                                  list_of(refused)));
}

std::string in_text(sni_reaction const& a)
{
    switch (a.reaction) {
    case sni_reaction::kind::same:
        return "the same certificate";
    case sni_reaction::kind::different:
        return fmt::format("another certificate: {}", a.detail);
    case sni_reaction::kind::refused:
        return fmt::format("refused ({})", a.detail);
    case sni_reaction::kind::unknown:
        break;
    }
    return "unknown";
}

std::string in_text(probed_resumption const& r, bool by_ticket)
{
    if (!r.offered)
        return "no";
    std::string text = fmt::format("resumed {} of {}", r.resumed, r.tried);
    if (by_ticket) {
        text += fmt::format("; {} with a full handshake", counted(r.tickets, "ticket"));
        text += r.lifetime.count() > 0 ? fmt::format(", good for {} s", r.lifetime.count())
                                       : ", without a lifetime";
    }
    if (r.resumed > 0 && by_ticket)
        text += r.renews ? ", renewed" : ", not renewed";
    if (r.accepts_used_ticket)
        text += *r.accepts_used_ticket ? "; a used ticket is taken again"
                                       : "; a used ticket is not taken again";
    return text;
}

} // namespace

std::string to_text(probe_report const& report)
{
    if (!report.error.empty())
        return report.error + "\n";
    std::string text =
        fmt::format("{} ({}), probed with {}\n", report.target, report.address, report.client);
    add_row(
        text, "preferred",
        fmt::format(
            "{}, {}, {}{}", report.version, report.suite,
            report.group.empty() ? "no group" : report.group,
            report.signature_scheme.empty() ? "" : ", " + report.signature_scheme));
    add_versions(text, report);
    for (probed_certificate const& each : report.certificates)
        add_certificate(text, report, each);
    add_row(text, "without SNI", in_text(report.without_sni));
    add_row(text, "with unknown SNI", in_text(report.unknown_sni));
    if (report.client_certificate_required)
        add_row(text, "from the client", "a certificate is required");
    if (report.find_version(wire::version::tls_1_3) != nullptr)
        add_row(text, "TLS 1.3 tickets", in_text(report.recent_tickets, true));
    if (report.find_version(wire::version::tls_1_2) != nullptr) {
        add_row(text, "TLS 1.2 tickets", in_text(report.old_tickets, true));
        add_row(text, "TLS 1.2 IDs", in_text(report.session_ids, false));
    }
    for (probed_member const& member : report.fleet) {
        std::vector<std::string> ways;
        for (probed_answer const& each : member.ways)
            if (each.yes)
                ways.push_back(fmt::format("{} {}", each.name, each.detail));
        add_row(
            text, "fleet",
            fmt::format(
                "{}: {}", member.address.empty() ? member.host : member.address,
                member.error.empty() ? list_of(ways, "no session to offer") : member.error));
    }
    add_answers(text, report);
    add_row(
        text, "time (median)",
        fmt::format(
            "TCP {}, full handshake {}, resumed {}", duration_text(report.tcp),
            duration_text(report.tls_full),
            report.tls_resumed ? duration_text(report.tls_resumed) : "none"));
    if (!report.incomplete.empty())
        add_row(text, "incomplete", report.incomplete);
    for (probed_finding const& each : report.verdict)
        fmt::format_to(
            std::back_inserter(text), "  {}: {}\n", each.good ? "good" : "weak", each.text);
    for (probed_answer const& each : report.not_tried())
        fmt::format_to(std::back_inserter(text), "  not tried: {}: {}\n", each.name, each.detail);
    return text;
}

std::string to_line(probe_report const& report)
{
    if (!report.error.empty())
        return report.error + "\n";
    std::string certificate;
    for (probed_certificate const& each : report.certificates)
        certificate += fmt::format(
            "{}{} {}d", certificate.empty() ? "" : "+", key_of(each.leaf),
            days_left(report, each.leaf));
    std::vector<std::string_view> resumes;
    if (report.recent_tickets.resumed > 0)
        resumes.emplace_back("1.3");
    if (report.old_tickets.resumed > 0 || report.session_ids.resumed > 0)
        resumes.emplace_back("1.2");
    std::vector<std::string_view> weak;
    for (probed_finding const& each : report.verdict)
        if (!each.good)
            weak.emplace_back(each.text);
    return fmt::format(
        "{}  {} {} {}  {}  resumes {}  {}  {}{}{}\n", report.target, report.version, report.suite,
        report.group.empty() ? "no-group" : report.group, certificate,
        resumes.empty() ? "nothing" : fmt::format("{}", fmt::join(resumes, "+")),
        duration_text(report.tls_full), weak.empty() ? "good" : "weak: ", fmt::join(weak, "; "),
        report.incomplete.empty() ? "" : " (incomplete: " + report.incomplete + ")");
}

} // namespace cleat::bench
