#include "inspect/check_report.hpp"
#include "inspect/json_text.hpp"
#include "process/version.hpp"
#include "system/printable.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace cleat::app {
namespace {

constexpr std::size_t blocks_max = 100; // More fit no terminal's memory.

void print_line(std::string_view label, std::string text)
{
    fmt::print("  {:<9} {}\n", label, printable(std::move(text)));
}

std::string place_list(inspected_certificate const& one, inventory const& all)
{
    std::vector<std::string> places;
    for (std::size_t const each : one.frontends) {
        bool const is_default = std::ranges::find(one.default_in, each) != one.default_in.end();
        places.push_back(all.frontends[each] + (is_default ? " (default)" : ""));
    }
    return fmt::format("{}", fmt::join(places, ", "));
}

std::string key_text(tls::certificate_description const& facts)
{
    return facts.key_bits == 0 ? facts.key : fmt::format("{}, {} bits", facts.key, facts.key_bits);
}

std::string over_text(std::int64_t end, std::chrono::sys_seconds now)
{
    constexpr std::int64_t day = 24 * 60 * 60;
    std::int64_t const days = (now.time_since_epoch().count() - end) / day;
    if (days == 0)
        return "over for less than a day";
    return fmt::format("over for {} day{}", days, days == 1 ? "" : "s");
}

std::string span_text(tls::certificate_description const& facts, std::chrono::sys_seconds now)
{
    std::int64_t const left = days_until(facts.valid_until, now);
    return fmt::format(
        "{} to {}, {}", date_text(facts.valid_from), date_text(facts.valid_until),
        left < 0 ? over_text(facts.valid_until, now) : fmt::format("{} days left", left));
}

void print_block(
    inspected_certificate const& one, inventory const& all, std::chrono::sys_seconds now)
{
    fmt::print("{}\n", tls::origin_of(one.paths));
    for (finding const& each : one.findings)
        print_line(to_string(each.grade), fmt::format("{}: {}", to_string(each.kind), each.text));
    if (one.facts) {
        print_line("names", fmt::format("{}", fmt::join(one.facts->names, ", ")));
        print_line("key", key_text(*one.facts));
        print_line("valid", span_text(*one.facts, now));
        print_line("issuer", fmt::format("{} ({})", one.facts->issuer, one.facts->signature));
    }
    if (!one.frontends.empty())
        print_line("serves", place_list(one, all));
    fmt::print("\n");
}

// Those with the worst findings first; else as the settings name them.
std::vector<std::size_t> by_grade(inventory const& all)
{
    std::vector<std::size_t> order(all.certificates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t number) {
        inspected_certificate const& each = all.certificates[number];
        return each.findings.empty() ? finding_grade_count
                                     : static_cast<std::size_t>(each.findings.front().grade);
    });
    return order;
}

void print_kinds(inventory const& all)
{
    std::map<std::pair<finding_grade, finding_kind>, std::size_t> counts;
    for (inspected_certificate const& one : all.certificates)
        for (finding const& each : one.findings)
            ++counts[{each.grade, each.kind}];
    for (auto const& [which, count] : counts)
        fmt::print("  {:<9} {:<21} {}\n", to_string(which.first), to_string(which.second), count);
}

std::string iso_time(std::int64_t posix)
{
    return fmt::format("\"{:%Y-%m-%dT%H:%M:%SZ}\"", fmt::gmtime(static_cast<std::time_t>(posix)));
}

std::vector<std::string> names_of(std::span<std::size_t const> places, inventory const& all)
{
    std::vector<std::string> names;
    for (std::size_t const each : places)
        names.push_back(all.frontends[each]);
    return names;
}

void print_facts(tls::certificate_description const& facts, std::chrono::sys_seconds now)
{
    fmt::print(
        "      \"subject\": {},\n      \"issuer\": {},\n      \"names\": {},\n"
        "      \"key\": {{\"type\": {}, \"bits\": {}}},\n      \"signature\": {},\n"
        "      \"not_before\": {},\n      \"not_after\": {},\n      \"days_left\": {},\n"
        "      \"chain_length\": {},\n",
        json_string(facts.subject), json_string(facts.issuer), json_strings(facts.names),
        json_string(facts.key), facts.key_bits, json_string(facts.signature),
        iso_time(facts.valid_from), iso_time(facts.valid_until), days_until(facts.valid_until, now),
        facts.chain.size() + 1);
}

void print_object(
    inspected_certificate const& one, inventory const& all, std::chrono::sys_seconds now)
{
    fmt::print(
        "    {{\n      \"chain\": {},\n      \"private_key\": {},\n", json_string(one.paths.chain),
        json_string(one.paths.private_key.empty() ? one.paths.chain : one.paths.private_key));
    if (one.facts)
        print_facts(*one.facts, now);
    std::vector<std::string> findings;
    for (finding const& each : one.findings)
        findings.push_back(fmt::format(
            "{{\"grade\": \"{}\", \"kind\": \"{}\", \"text\": {}}}", to_string(each.grade),
            to_string(each.kind), json_string(each.text)));
    fmt::print(
        "      \"frontends\": {},\n      \"default_in\": {},\n      \"findings\": [{}]\n    }}",
        json_strings(names_of(one.frontends, all)), json_strings(names_of(one.default_in, all)),
        fmt::join(findings, ", "));
}

} // namespace

finding_counts count_findings(inventory const& all) noexcept
{
    finding_counts counts{};
    for (inspected_certificate const& one : all.certificates)
        for (finding const& each : one.findings)
            ++counts[static_cast<std::size_t>(each.grade)];
    return counts;
}

void print_blocks(inventory const& all, bool every, std::chrono::sys_seconds now)
{
    std::vector<std::size_t> order = by_grade(all);
    std::size_t const count = order.size();
    if (count > blocks_max && !every) {
        std::erase_if(order, [&](std::size_t n) { return all.certificates[n].findings.empty(); });
        order.resize(std::min(order.size(), blocks_max));
    }
    for (std::size_t const each : order)
        print_block(all.certificates[each], all, now);
    if (order.size() < count) {
        fmt::print("{} more certificates are left out: --all shows them\n", count - order.size());
        print_kinds(all);
    }
    finding_counts const counts = count_findings(all);
    fmt::print(
        "certificates {}, errors {}, warnings {}, notices {}\n", count, counts[0], counts[1],
        counts[2]);
}

void print_json(
    inventory const& all, std::span<problem const> problems, std::chrono::sys_seconds now)
{
    fmt::print(
        "{{\n  \"cleat_check\": 1,\n  \"version\": {},\n  \"time\": {},\n"
        "  \"problems\": [",
        json_string(version), iso_time(now.time_since_epoch().count()));
    std::string_view comma = "\n";
    for (problem const& each : problems) {
        bool const is_error = each.grade == problem::severity::error;
        fmt::print(
            "{}    {{\"grade\": \"{}\", \"where\": {}, \"key\": {}, \"text\": {}, \"cure\": {}}}",
            comma, is_error ? "error" : "warning", json_string(to_string(each.where)),
            json_string(each.key), json_string(each.text), json_string(each.cure));
        comma = ",\n";
    }
    fmt::print("],\n  \"certificates\": [");
    comma = "\n";
    for (inspected_certificate const& each : all.certificates) {
        fmt::print("{}", std::exchange(comma, ",\n"));
        print_object(each, all, now);
    }
    finding_counts const counts = count_findings(all);
    fmt::print(
        "],\n  \"counts\": {{\"certificates\": {}, \"errors\": {}, \"warnings\": {}, "
        "\"notices\": {}}}\n}}\n",
        all.certificates.size(), counts[0], counts[1], counts[2]);
}

} // namespace cleat::app
