// The report of a probe in JSON.

#include "probe/formatting.hpp"
#include "probe/probe.hpp"
#include "result/result_json.hpp"
#include "text/times.hpp"

#include <utility>

namespace cleat::bench {
namespace {

constexpr int probe_version = 2;

std::string_view reaction_name(sni_reaction::kind k) noexcept
{
    switch (k) {
    case sni_reaction::kind::same:
        return "same";
    case sni_reaction::kind::different:
        return "different";
    case sni_reaction::kind::refused:
        return "refused";
    case sni_reaction::kind::unknown:
        break;
    }
    return "unknown";
}

json::object probe_json(sni_reaction const& a)
{
    return {{"answer", reaction_name(a.reaction)}, {"detail", a.detail}};
}

json::object probe_json(probed_resumption const& r)
{
    return {
        {"offered", r.offered},
        {"tickets", r.tickets},
        {"lifetime_s", r.lifetime.count()},
        {"tried", r.tried},
        {"resumed", r.resumed},
        {"renews", r.renews},
        {"taken_twice",
         r.accepts_used_ticket ? json::value(*r.accepts_used_ticket) : json::value(nullptr)}};
}

json::object probe_json(probed_certificate const& each, probe_report const& report)
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
        {"days_left", days_left(report, c)},
        {"self_signed", c.self_issued},
        {"sha256", c.fingerprint},
        {"chain_length", each.chain_length},
        {"chain_in_order", each.in_order},
        {"root_sent", each.has_root},
        {"verified", each.trust.verified},
        {"reason", each.trust.reason},
        {"chain_incomplete", each.trust.incomplete},
        {"name_matches", each.trust.name_matches},
        {"crls", in_json(c.crls)},
        {"ocsp_responders", in_json(c.responders)},
        {"must_staple", c.must_staple},
        {"transparency_timestamps", c.has_timestamps}};
}

json::array probe_json(std::vector<probed_answer> const& answers)
{
    json::array made;
    for (probed_answer const& each : answers)
        made.push_back(json::object{
            {"name", each.name},
            {"yes", each.yes ? json::value(*each.yes) : json::value(nullptr)},
            {"detail", each.detail}});
    return made;
}

json::array probe_json(std::vector<probed_member> const& fleet)
{
    json::array made;
    for (probed_member const& each : fleet)
        made.push_back(json::object{
            {"host", each.host},
            {"address", each.address},
            {"error", each.error.empty() ? json::value(nullptr) : json::value(each.error)},
            {"ways", probe_json(each.ways)}});
    return made;
}

// The registry's facts of each suite.
json::array probe_json(probed_version const& version)
{
    json::array made;
    for (std::string const& name : version.suites) {
        wire::cipher_suite const* const suite = wire::find_suite(name);
        if (suite == nullptr)
            continue;
        wire::suite_traits const traits = wire::traits_of(*suite);
        made.push_back(json::object{
            {"name", name},
            {"iana", suite->iana},
            {"number", suite->number},
            {"null", traits.null_encryption},
            {"anonymous", traits.anonymous},
            {"export", traits.export_grade},
            {"forward_secret", traits.forward_secret},
            {"aead", traits.aead},
            {"cbc", traits.cbc},
            {"rc4", traits.rc4},
            {"block_64", traits.block_64}});
    }
    return made;
}

json::value probe_json(std::optional<std::chrono::nanoseconds> t)
{
    return t ? json::value(t->count()) : json::value(nullptr);
}

} // namespace

json::object to_json(probe_report const& report)
{
    json::object found{
        {"cleat-bench probe", probe_version},
        {"target", report.target},
        {"when", in_utc(report.when)},
        {"error", report.error.empty() ? json::value(nullptr) : json::value(report.error)}};
    if (!report.error.empty())
        return found;
    json::array versions, certificates, verdict;
    for (probed_version const& each : report.versions)
        versions.push_back(json::object{
            {"version", name_of(each.version)},
            {"suites", in_json(each.suites)},
            {"registered", probe_json(each)},
            {"order", each.order == chooser::server   ? "server"
                      : each.order == chooser::client ? "client"
                                                      : "unknown"}});
    for (probed_certificate const& each : report.certificates)
        certificates.push_back(probe_json(each, report));
    for (probed_finding const& each : report.verdict)
        verdict.push_back(json::object{{"good", each.good}, {"text", each.text}});
    found["address"] = report.address;
    found["client"] = report.client;
    found["incomplete"] = report.incomplete;
    found["preferred"] = json::object{
        {"version", report.version},
        {"suite", report.suite},
        {"group", report.group},
        {"signature_scheme", report.signature_scheme}};
    found["versions"] = std::move(versions);
    found["old_versions"] = in_json(old_versions(report));
    found["groups"] = in_json(report.groups);
    found["other_groups"] = in_json(report.other_groups);
    found["post_quantum"] =
        report.post_quantum ? json::value(*report.post_quantum) : json::value(nullptr);
    found["alpn"] = in_json(report.alpn);
    found["features"] = probe_json(report.features);
    found["vulnerabilities"] = probe_json(report.vulnerabilities);
    found["tolerance"] = probe_json(report.tolerance);
    found["not_tried"] = probe_json(report.not_tried());
    found["certificates"] = std::move(certificates);
    found["without_sni"] = probe_json(report.without_sni);
    found["unknown_sni"] = probe_json(report.unknown_sni);
    found["client_certificate_required"] = report.client_certificate_required;
    found["resumption"] = json::object{
        {"tls_1_3_tickets", probe_json(report.recent_tickets)},
        {"tls_1_2_tickets", probe_json(report.old_tickets)},
        {"tls_1_2_session_ids", probe_json(report.session_ids)}};
    found["fleet"] = probe_json(report.fleet);
    found["median_ns"] = json::object{
        {"tcp", probe_json(report.tcp)},
        {"tls_full", probe_json(report.tls_full)},
        {"tls_resumed", probe_json(report.tls_resumed)}};
    found["verdict"] = std::move(verdict);
    return found;
}

} // namespace cleat::bench
