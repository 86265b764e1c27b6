// What a probe has found, in words: of one server, and of one in a list.

#include "probe/formatting.hpp"
#include "probe/probe.hpp"
#include "times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace cleat::bench {
namespace {

using version = tls::protocol_version;

std::string time_left(probe_report const& of, tls::shown_certificate const& c)
{
    if (c.until < of.when)
        return "expired";
    return many(static_cast<std::size_t>(days_left(of, c)), "day") + " left";
}

std::string time_of(std::optional<std::chrono::nanoseconds> t)
{
    return t ? in_words(static_cast<double>(t->count())) : "unknown";
}

void add(std::string& to, std::string_view name, std::string const& value)
{
    fmt::format_to(std::back_inserter(to), "  {:18}{}\n", name, value);
}

void add_versions(std::string& to, probe_report const& of)
{
    std::vector<std::string> names;
    for (probed_version const& each : of.versions)
        names.emplace_back(name_of(each.version));
    names.insert(names.end(), of.old_versions.begin(), of.old_versions.end());
    add(to, "versions", list_of(names));
    for (probed_version const& each : of.versions) {
        std::string_view const order = each.order == chooser::server   ? "; the server chooses"
                                       : each.order == chooser::client ? "; the client chooses"
                                                                       : "";
        add(to, fmt::format("{} suites", name_of(each.version)),
            fmt::format("{} accepted{}", each.suites.size(), order));
        for (std::string const& suite : each.suites)
            add(to, "", suite);
    }
    add(to, "groups",
        fmt::format(
            "{}{}", list_of(of.groups),
            of.other_groups.empty() ? "" : "; not " + list_of(of.other_groups)));
    add(to, "post-quantum",
        !of.post_quantum   ? fmt::format("unknown: {} cannot ask for it", of.client)
        : *of.post_quantum ? fmt::format("yes ({})", of.groups.front())
                           : "no");
    add(to, "ALPN",
        of.alpn.size() == 2 ? fmt::format("{} (prefers {})", list_of(of.alpn), of.alpn.front())
                            : list_of(of.alpn, "neither h2 nor http/1.1"));
}

void add_certificate(std::string& to, probe_report const& of, probed_certificate const& each)
{
    tls::shown_certificate const& c = each.leaf;
    add(to, "certificate",
        fmt::format(
            "{}, signed with {}{}", key_of(c), c.signature, c.self_issued ? ", self-signed" : ""));
    add(to, "  subject", c.subject.empty() ? "(empty)" : c.subject);
    add(to, "  names", list_of(c.names));
    add(to, "  issuer", c.issuer);
    add(to, "  valid", fmt::format("{} to {} ({})", date(c.from), date(c.until), time_left(of, c)));
    add(to, "  chain",
        fmt::format(
            "{} sent; {}", many(each.chain_length, "certificate"),
            each.trust.verified ? "verifies" : "does not verify: " + each.trust.reason));
    add(to, "  for this name", each.trust.name_matches ? "yes" : "no");
}

std::string in_text(probed_answer const& a)
{
    switch (a.what) {
    case probed_answer::kind::same:
        return "the same certificate";
    case probed_answer::kind::different:
        return fmt::format("another certificate: {}", a.detail);
    case probed_answer::kind::refused:
        return fmt::format("refused ({})", a.detail);
    case probed_answer::kind::unknown:
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
        text += fmt::format("; {} with a full handshake", many(r.tickets, "ticket"));
        text += r.lifetime.count() > 0 ? fmt::format(", good for {} s", r.lifetime.count())
                                       : ", without a lifetime";
    }
    if (r.resumed > 0 && by_ticket)
        text += r.renews ? ", renewed" : ", not renewed";
    if (r.twice)
        text += *r.twice ? "; a used ticket is taken again" : "; a used ticket is not taken again";
    return text;
}

} // namespace

std::string to_text(probe_report const& of)
{
    if (!of.error.empty())
        return of.error + "\n";
    std::string text = fmt::format("{} ({}), asked by {}\n", of.target, of.address, of.client);
    add(text, "preferred",
        fmt::format(
            "{}, {}, {}{}", of.version, of.suite, of.group.empty() ? "no group" : of.group,
            of.signature_scheme.empty() ? "" : ", " + of.signature_scheme));
    add_versions(text, of);
    for (probed_certificate const& each : of.certificates)
        add_certificate(text, of, each);
    add(text, "without SNI", in_text(of.without_sni));
    add(text, "with unknown SNI", in_text(of.unknown_sni));
    if (of.client_certificate_required)
        add(text, "from the client", "a certificate is required");
    if (of.offers(version::tls_1_3) != nullptr)
        add(text, "TLS 1.3 tickets", in_text(of.recent_tickets, true));
    if (of.offers(version::tls_1_2) != nullptr) {
        add(text, "TLS 1.2 tickets", in_text(of.old_tickets, true));
        add(text, "TLS 1.2 IDs", in_text(of.session_ids, false));
    }
    add(text, "time (median)",
        fmt::format(
            "TCP {}, full handshake {}, resumed {}", time_of(of.tcp), time_of(of.tls_full),
            of.tls_resumed ? time_of(of.tls_resumed) : "none"));
    if (!of.incomplete.empty())
        add(text, "incomplete", of.incomplete);
    for (probed_finding const& each : of.verdict)
        fmt::format_to(
            std::back_inserter(text), "  {}: {}\n", each.good ? "good" : "weak", each.text);
    return text;
}

std::string to_line(probe_report const& of)
{
    if (!of.error.empty())
        return of.error + "\n";
    std::string certificate;
    for (probed_certificate const& each : of.certificates)
        certificate += fmt::format(
            "{}{} {}d", certificate.empty() ? "" : "+", key_of(each.leaf),
            days_left(of, each.leaf));
    std::vector<std::string_view> resumes;
    if (of.recent_tickets.resumed > 0)
        resumes.emplace_back("1.3");
    if (of.old_tickets.resumed > 0 || of.session_ids.resumed > 0)
        resumes.emplace_back("1.2");
    std::vector<std::string_view> weak;
    for (probed_finding const& each : of.verdict)
        if (!each.good)
            weak.emplace_back(each.text);
    return fmt::format(
        "{}  {} {} {}  {}  resumes {}  {}  {}{}{}\n", of.target, of.version, of.suite,
        of.group.empty() ? "no-group" : of.group, certificate,
        resumes.empty() ? "nothing" : fmt::format("{}", fmt::join(resumes, "+")),
        time_of(of.tls_full), weak.empty() ? "good" : "weak: ", fmt::join(weak, "; "),
        of.incomplete.empty() ? "" : " (incomplete: " + of.incomplete + ")");
}

} // namespace cleat::bench
