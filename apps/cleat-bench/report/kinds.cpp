#include "report/kinds.hpp"
#include "text/checked_json.hpp"
#include "text/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::bench {
namespace {

using namespace checked;

json::object staircase_of(json::value const& document)
{
    json::array steps;
    for (json::value const& each : list(document, "steps")) {
        json::object step;
        for (std::string_view const key :
             {"rate", "attempted", "ok", "failed", "response_mean_ns", "response_max_ns"})
            step[key] = number(each, key);
        // Older documents have none of these.
        step["length_ns"] = number_or_null(each, "length_ns");
        step["done"] = number_or_null(each, "done");
        step["broken"] = find(each, "broken") != nullptr && flag(each, "broken");
        step["kept_up"] = find(each, "kept_up") == nullptr || flag(each, "kept_up");
        step["fault"] = find(each, "fault") == nullptr ? json::string{} : text(each, "fault");
        steps.push_back(std::move(step));
    }
    json::array highest;
    for (json::value const& each : list(document, "highest"))
        highest.push_back(json::object{
            {"criterion", text(each, "criterion")}, {"rate", number_or_null(each, "rate")}});
    return {
        {"steps", std::move(steps)},
        {"highest", std::move(highest)},
        {"knee", number_or_null(document, "knee")}};
}

json::object transfer_of(json::value const& transfer)
{
    return {
        {"direction", text(transfer, "direction")},
        {"size", number(transfer, "message_bytes")},
        {"bytes_per_s", number(transfer, "bytes_per_s")},
        {"generator_cpu_ns_per_gb", number_or_null(transfer, "generator_cpu_ns_per_gb")},
        {"server_cpu_ns_per_gb", number_or_null(transfer, "server_cpu_ns_per_gb")}};
}

std::string joined(json::array const& words, std::string_view none)
{
    std::string found;
    for (json::value const& each : words)
        found += (found.empty() ? "" : ", ") + std::string{each.as_string()};
    return found.empty() ? std::string{none} : found;
}

std::string certificate_key(json::value const& certificate)
{
    return sized_key(
        std::string{text(certificate, "key")},
        static_cast<unsigned>(number(certificate, "key_bits")));
}

std::string certificate_in_words(json::value const& certificate)
{
    double const left = number(certificate, "days_left");
    return fmt::format(
        "{}, issued by {}; {}, {} to {} ({}); {:g} sent{}",
        std::string_view{text(certificate, "subject")},
        std::string_view{text(certificate, "issuer")}, certificate_key(certificate),
        std::string_view{text(certificate, "not_before")},
        std::string_view{text(certificate, "not_after")},
        left < 0 ? "expired" : fmt::format("{:g} days left", left),
        number(certificate, "chain_length"),
        flag(certificate, "verified")
            ? ", verified"
            : fmt::format(", not verified: {}", std::string_view{text(certificate, "reason")}));
}

std::string resumption_in_words(json::value const& way)
{
    if (!flag(way, "offered"))
        return "not offered";
    return fmt::format("resumed {:g} of {:g}", number(way, "resumed"), number(way, "tried"));
}

std::string answer_in_words(json::value const& trial)
{
    std::string const answer{text(trial, "answer")};
    std::string const detail{text(trial, "detail")};
    return answer == "same"        ? "the same certificate"
           : answer == "different" ? "another certificate: " + detail
           : answer == "refused"   ? "refused: " + detail
                                   : "unknown";
}

// The versions that resume, for a cell of the table.
std::string resumed_versions(json::value const& ways)
{
    auto const done = [&](std::string_view way) {
        return number(member(ways, way), "resumed") > 0;
    };
    std::string found = done("tls_1_3_tickets") ? "1.3" : "";
    if (done("tls_1_2_tickets") || done("tls_1_2_session_ids"))
        found += found.empty() ? "1.2" : ", 1.2";
    return found.empty() ? "nothing" : found;
}

// The names of the answers that are `yes`; with_detail adds what was seen. A document of before
// there were such answers has none.
std::string answers_in_words(
    json::value const& host, std::string_view key, std::optional<bool> yes, bool with_detail)
{
    std::vector<std::string> words;
    if (find(host, key) == nullptr)
        return {};
    for (json::value const& each : list(host, key)) {
        bool const is_known = find(each, "yes") != nullptr;
        if (is_known ? yes != flag(each, "yes") : yes.has_value())
            continue;
        std::string_view const name{text(each, "name")};
        std::string_view const detail{text(each, "detail")};
        words.push_back(with_detail ? fmt::format("{}: {}", name, detail) : std::string{name});
    }
    return fmt::format("{}", fmt::join(words, with_detail ? "; " : ", "));
}

json::array facts_of(json::value const& host)
{
    json::array found;
    auto const fact = [&](std::string_view name, std::string const& value) {
        if (!value.empty())
            found.push_back(json::array{name, value});
    };
    json::value const& preferred = member(host, "preferred");
    fact("address", std::string{text(host, "address")});
    fact("signature", std::string{text(preferred, "signature_scheme")});
    for (json::value const& each : list(host, "versions")) {
        std::string_view const chooser{text(each, "order")};
        fact(
            text(each, "version"),
            joined(texts(each, "suites"), "no suite") +
                (chooser == "unknown" ? "" : fmt::format("; the order is the {}’s", chooser)));
    }
    fact("groups", joined(texts(host, "groups"), "none"));
    fact("groups not taken", joined(texts(host, "other_groups"), ""));
    fact("ALPN", joined(texts(host, "alpn"), "none"));
    for (json::value const& each : list(host, "certificates"))
        fact("certificate", certificate_in_words(each));
    fact("without SNI", answer_in_words(member(host, "without_sni")));
    fact("with unknown SNI", answer_in_words(member(host, "unknown_sni")));
    if (flag(host, "client_certificate_required"))
        fact("from the client", "a certificate is required");
    json::value const& ways = member(host, "resumption");
    fact("TLS 1.3 tickets", resumption_in_words(member(ways, "tls_1_3_tickets")));
    fact("TLS 1.2 tickets", resumption_in_words(member(ways, "tls_1_2_tickets")));
    fact("TLS 1.2 session IDs", resumption_in_words(member(ways, "tls_1_2_session_ids")));
    fact("features", answers_in_words(host, "features", true, true));
    fact("without", answers_in_words(host, "features", false, true));
    fact("vulnerable to", answers_in_words(host, "vulnerabilities", true, true));
    fact("not vulnerable to", answers_in_words(host, "vulnerabilities", false, false));
    fact("unusual hellos refused", answers_in_words(host, "tolerance", false, true));
    fact("not tried", answers_in_words(host, "not_tried", {}, true));
    fact("incomplete", std::string{text(host, "incomplete")});
    fact("asked by", std::string{text(host, "client")});
    return found;
}

json::object host_of(json::value const& host)
{
    json::object found{
        {"target", text(host, "target")},
        {"when", text(host, "when")},
        {"error", text_or_null(host, "error")}};
    if (!found["error"].is_null())
        return found;
    json::value const& preferred = member(host, "preferred");
    for (std::string_view const key : {"version", "suite", "group"})
        found[key] = text(preferred, key);
    json::array certificates;
    for (json::value const& each : list(host, "certificates"))
        certificates.push_back(
            json::object{{"key", certificate_key(each)}, {"days_left", number(each, "days_left")}});
    found["certificates"] = std::move(certificates);
    found["resumes"] = resumed_versions(member(host, "resumption"));
    for (std::string_view const key : {"tcp", "tls_full", "tls_resumed"})
        found[key] = number_or_null(member(host, "median_ns"), key);
    json::array verdict;
    for (json::value const& each : list(host, "verdict"))
        verdict.push_back(json::object{{"good", flag(each, "good")}, {"text", text(each, "text")}});
    found["verdict"] = std::move(verdict);
    found["facts"] = facts_of(host);
    return found;
}

} // namespace

json::object extras_of(json::value const& document)
{
    json::object found;
    if (find(document, "steps") != nullptr)
        found["staircase"] = staircase_of(document);
    if (json::value const* const moved = find(document, "transfer"))
        found["transfer"] = transfer_of(*moved);
    return found;
}

json::object idle_page_of(json::value const& document)
{
    json::array levels;
    for (json::value const& each : list(document, "levels"))
        levels.push_back(json::object{
            {"connections", number(each, "connections")},
            {"bytes", number(each, "pss_bytes")},
            {"flat", find(each, "flat") != nullptr && flag(each, "flat")}});
    return {
        {"name", text(document, "name")},
        {"command", text(document, "command")},
        {"target", text(document, "target")},
        {"http2", find(document, "http2") != nullptr && flag(document, "http2")},
        {"started", text_or_null(document, "started")},
        {"partial", find(document, "partial") != nullptr && flag(document, "partial")},
        {"levels", std::move(levels)},
        {"bytes_per_connection", number_or_null(document, "bytes_per_connection")},
        {"environment", facts(document, "environment")}};
}

json::object probe_page_of(json::value const& document)
{
    json::array hosts;
    for (json::value const& each : list(document, "hosts"))
        hosts.push_back(host_of(each));
    return {{"hosts", std::move(hosts)}};
}

std::string title_of_idle(json::value const& document)
{
    json::string const& name = text(document, "name");
    return std::string{name.empty() ? text(document, "target") : name};
}

std::string title_of_probe(json::value const& document)
{
    json::array const& hosts = list(document, "hosts");
    return hosts.size() == 1 ? std::string{text(hosts.front(), "target")}
                             : fmt::format("{} hosts", hosts.size());
}

} // namespace cleat::bench
