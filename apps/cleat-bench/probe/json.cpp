// What a probe has found, for programs.

#include "probe/formatting.hpp"
#include "probe/probe.hpp"
#include "times.hpp"

#include <utility>

namespace cleat::bench {
namespace {

constexpr int document_version = 1;

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

} // namespace

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
    found["old_versions"] = in_json(of.old_versions);
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
