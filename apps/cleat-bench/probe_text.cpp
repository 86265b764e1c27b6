// What a probe has found, in words: for people, for a list of servers, and for programs.

#include "probe.hpp"
#include "times.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/alert.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace cleat::bench {
namespace {

using version = tls::protocol_version;
using days = std::chrono::duration<long, std::ratio<86400>>;

constexpr int document_version = 1;

// With less than this, a renewal that fails is noticed too late; those that live for a few days
// only are renewed in their last third.
constexpr days renewal_due{14};

bool has(std::string_view text, std::string_view part) noexcept
{
    return text.find(part) != std::string_view::npos;
}

std::string list_of(std::vector<std::string> const& words, std::string_view none = "none")
{
    return words.empty() ? std::string{none} : fmt::format("{}", fmt::join(words, ", "));
}

std::string many(std::size_t count, std::string_view what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view name_of(version v) noexcept
{
    return v == version::tls_1_3 ? "TLS 1.3" : "TLS 1.2";
}

long days_left(probe_report const& of, tls::shown_certificate const& c)
{
    return std::chrono::floor<days>(c.until - of.when).count();
}

std::string time_left(probe_report const& of, tls::shown_certificate const& c)
{
    if (c.until < of.when)
        return "expired";
    return many(static_cast<std::size_t>(days_left(of, c)), "day") + " left";
}

std::string date(std::chrono::sys_seconds at)
{
    std::chrono::year_month_day const day{std::chrono::floor<std::chrono::days>(at)};
    return fmt::format(
        "{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
        static_cast<unsigned>(day.day()));
}

std::string time_of(std::optional<std::chrono::nanoseconds> t)
{
    return t ? in_words(static_cast<double>(t->count())) : "unknown";
}

std::string key_of(tls::shown_certificate const& c)
{
    return c.key == "Ed25519" ? c.key : fmt::format("{}-{}", c.key, c.key_bits);
}

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

void add(std::string& to, std::string_view name, std::string const& value)
{
    fmt::format_to(std::back_inserter(to), "  {:18}{}\n", name, value);
}

void add_versions(std::string& to, probe_report const& of)
{
    std::vector<std::string> names;
    for (probed_version const& each : of.versions)
        names.emplace_back(name_of(each.version));
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

std::string_view word_for(probed_answer::kind k) noexcept
{
    switch (k) {
    case probed_answer::kind::same:
        return "same";
    case probed_answer::kind::different:
        return "different";
    case probed_answer::kind::refused:
        return "refused";
    case probed_answer::kind::unknown:
        break;
    }
    return "unknown";
}

json::array in_json(std::vector<std::string> const& words)
{
    return json::array(words.begin(), words.end());
}

json::object in_json(probed_answer const& a)
{
    return {{"answer", word_for(a.what)}, {"detail", a.detail}};
}

json::object in_json(probed_resumption const& r)
{
    return {
        {"offered", r.offered},
        {"tickets", r.tickets},
        {"lifetime_s", r.lifetime.count()},
        {"tried", r.tried},
        {"resumed", r.resumed},
        {"renews", r.renews},
        {"taken_twice", r.twice ? json::value(*r.twice) : json::value(nullptr)}};
}

json::object in_json(probed_certificate const& each, probe_report const& of)
{
    tls::shown_certificate const& c = each.leaf;
    return {
        {"subject", c.subject},
        {"issuer", c.issuer},
        {"names", in_json(c.names)},
        {"key", c.key},
        {"key_bits", c.key_bits},
        {"signature", c.signature},
        {"not_before", date(c.from)},
        {"not_after", date(c.until)},
        {"days_left", days_left(of, c)},
        {"self_signed", c.self_issued},
        {"sha256", c.fingerprint},
        {"chain_length", each.chain_length},
        {"verified", each.trust.verified},
        {"reason", each.trust.reason},
        {"chain_incomplete", each.trust.incomplete},
        {"name_matches", each.trust.name_matches}};
}

json::value in_json(std::optional<std::chrono::nanoseconds> t)
{
    return t ? json::value(t->count()) : json::value(nullptr);
}

// What a server says that does not speak TLS, where it can be told from its first bytes.
std::string_view plain_protocol(std::string_view bytes) noexcept
{
    using sign = std::pair<std::string_view, std::string_view>;
    constexpr std::array<sign, 8> signs{{
        {"HTTP/", "plain HTTP"},
        {"<!DOCTYPE", "plain HTTP"},
        {"<html", "plain HTTP"},
        {"SSH-", "SSH"},
        {"220", "plain SMTP or FTP"},
        {"* OK", "plain IMAP"},
        {"+OK", "plain POP3"},
        {"-ERR", "plain Redis or POP3"},
    }};
    for (auto const& [start, name] : signs)
        if (bytes.starts_with(start))
            return name;
    return {};
}

std::string sentence_on_tcp(
    std::string_view at, std::chrono::milliseconds timeout, probed_failure const& failed)
{
    if (failed.kind == "refused")
        return fmt::format(
            "{} refuses the connection: nothing listens there; check the port, or start the server",
            at);
    if (failed.kind == "timeout")
        return fmt::format(
            "{} did not take the connection within {} ms: check the address, and whether a "
            "firewall is in the way",
            at, timeout.count());
    return fmt::format(
        "{} cannot be connected to ({}): check the address and the network", at, failed.kind);
}

std::string_view cure_for(int alert) noexcept
{
    constexpr int protocol_version = 70;
    constexpr int unrecognized_name = 112;
    switch (alert) {
    case protocol_version:
        return "it speaks neither TLS 1.2 nor TLS 1.3; turn them on";
    case unrecognized_name:
        return "it does not know the name; ask for one that it serves";
    default:
        return "the server's log says why";
    }
}

} // namespace

std::string sentence_on(
    std::string_view at, std::chrono::milliseconds timeout, probed_failure const& failed)
{
    constexpr char alert_record = 21; // RFC 8446, section 5.1.
    constexpr char handshake_record = 22;
    if (!failed.connected)
        return sentence_on_tcp(at, timeout, failed);
    std::string_view const bytes = failed.first_bytes;
    if (std::string_view const spoken = plain_protocol(bytes); !spoken.empty())
        return fmt::format(
            "{} speaks {}, not TLS: give the port that speaks TLS, for HTTPS usually 443", at,
            spoken);
    if (!bytes.empty() && bytes.front() != alert_record && bytes.front() != handshake_record)
        return fmt::format(
            "{} does not speak TLS: what it sends is no TLS record; check the port", at);
    if (failed.kind == "timeout")
        return fmt::format(
            "{} took the connection, and did not finish the handshake within {} ms: check that "
            "this port speaks TLS, and that the server is not busy",
            at, timeout.count());
    if (failed.alert >= 0)
        return fmt::format(
            "{} refuses the handshake with the alert {}: {}", at, tls::alert_name(failed.alert),
            cure_for(failed.alert));
    if (bytes.empty())
        return fmt::format(
            "{} ends the connection without an answer to the ClientHello: check that this port "
            "speaks TLS; the server's log may say why",
            at);
    return fmt::format(
        "{}: the handshake fails ({}): the server's log may say more", at, failed.kind);
}

std::vector<probed_finding> judge(probe_report const& of)
{
    verdict on;
    judge_certificates(on, of);
    judge_versions(on, of);
    judge_resumption(on, of);
    return on.take();
}

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

json::object to_json(probe_report const& of)
{
    json::object found{
        {"cleat-bench probe", document_version},
        {"target", of.target},
        {"when", in_utc(of.when)},
        {"error", of.error.empty() ? json::value(nullptr) : json::value(of.error)}};
    if (!of.error.empty())
        return found;
    json::array versions, certificates, verdict;
    for (probed_version const& each : of.versions)
        versions.push_back(json::object{
            {"version", name_of(each.version)},
            {"suites", in_json(each.suites)},
            {"order", each.order == chooser::server   ? "server"
                      : each.order == chooser::client ? "client"
                                                      : "unknown"}});
    for (probed_certificate const& each : of.certificates)
        certificates.push_back(in_json(each, of));
    for (probed_finding const& each : of.verdict)
        verdict.push_back(json::object{{"good", each.good}, {"text", each.text}});
    found["address"] = of.address;
    found["client"] = of.client;
    found["incomplete"] = of.incomplete;
    found["preferred"] = json::object{
        {"version", of.version},
        {"suite", of.suite},
        {"group", of.group},
        {"signature_scheme", of.signature_scheme}};
    found["versions"] = std::move(versions);
    found["groups"] = in_json(of.groups);
    found["other_groups"] = in_json(of.other_groups);
    found["post_quantum"] = of.post_quantum ? json::value(*of.post_quantum) : json::value(nullptr);
    found["alpn"] = in_json(of.alpn);
    found["certificates"] = std::move(certificates);
    found["without_sni"] = in_json(of.without_sni);
    found["unknown_sni"] = in_json(of.unknown_sni);
    found["client_certificate_required"] = of.client_certificate_required;
    found["resumption"] = json::object{
        {"tls_1_3_tickets", in_json(of.recent_tickets)},
        {"tls_1_2_tickets", in_json(of.old_tickets)},
        {"tls_1_2_session_ids", in_json(of.session_ids)}};
    found["median_ns"] = json::object{
        {"tcp", in_json(of.tcp)},
        {"tls_full", in_json(of.tls_full)},
        {"tls_resumed", in_json(of.tls_resumed)}};
    found["verdict"] = std::move(verdict);
    return found;
}

} // namespace cleat::bench
