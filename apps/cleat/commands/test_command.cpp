#include "commands/test_command.hpp"
#include "inspect/inventory.hpp"
#include "start/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

namespace cleat::app {
namespace {

// A start has the others, in its own words.
bool is_of_check_alone(finding const& found) noexcept
{
    using enum finding_kind;
    switch (found.kind) {
    case ends_soon:
        return found.grade != finding_grade::notice;
    case missing_intermediate:
    case weak_key:
    case sha1_signature:
    case no_san:
        return true;
    case expired:
    case not_yet_valid:
    case chain_date:
    case key_mismatch:
    case unusable:
    case wrong_order:
    case duplicate_name:
    case unusable_name:
    case not_served:
        break;
    }
    return false;
}

void add_findings(
    std::vector<problem>& problems, std::vector<inspected_certificate> const& certificates)
{
    for (inspected_certificate const& each : certificates)
        for (finding const& found : each.findings)
            if (is_of_check_alone(found))
                problems.push_back(
                    {problem::severity::warning,
                     each.where,
                     std::string{each.key},
                     fmt::format("{}: {}", tls::origin_of(each.paths), found.text),
                     {}});
}

} // namespace

int test_configuration(check_only const& request)
{
    inspected_files known; // Many certificates are read once.
    std::vector<problem> problems = request.warnings;
    std::ranges::move(
        problems_of_start(
            request.settings,
            [&](tls::certificate_paths const& paths, tls::scanned_certificate const& found) {
                known.insert_or_assign(tls::origin_of(paths), inspected(found));
            }),
        std::back_inserter(problems));
    bool const is_good = !has_errors(problems);
    if (is_good) {
        auto const now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        add_findings(problems, examine_certificates(request.settings, known, now));
    }
    report(problems);
    if (!is_good)
        return EXIT_FAILURE;
    fmt::print("the configuration is good\n");
    return EXIT_SUCCESS;
}

} // namespace cleat::app
