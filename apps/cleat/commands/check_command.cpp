#include "commands/check_command.hpp"
#include "inspect/check_report.hpp"
#include "inspect/inventory.hpp"
#include "start/start.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

// The problems of a start that no finding of a certificate says already. Such a problem begins with
// the name of the certificate's files, or is the finding's text.
class problem_filter
{
public:
    explicit problem_filter(inventory const& all)
    {
        for (inspected_certificate const& each : all.certificates) {
            by_origin_[tls::origin_of(each.paths)] = &each;
            for (finding const& found : each.findings)
                by_origin_.try_emplace(found.text, &each);
        }
    }

    [[nodiscard]] bool is_said(problem const& found) const
    {
        std::string_view const text = found.text;
        return is_said_for(found, text) || is_said_for(found, text.substr(0, text.find(": "))) ||
               is_said_for(found, text.substr(0, text.find(" and ")));
    }

private:
    [[nodiscard]] bool is_said_for(problem const& found, std::string_view about) const
    {
        auto const place = by_origin_.find(std::string{about});
        bool const is_error = found.grade == problem::severity::error;
        return place != by_origin_.end() &&
               place->second->has(is_error ? finding_grade::error : finding_grade::notice);
    }

    std::unordered_map<std::string, inspected_certificate const*> by_origin_;
};

} // namespace

int report_on_certificates(report_certificates const& request)
{
    std::vector<problem> problems = request.problems;
    inspected_files known; // Many certificates are read once.
    std::vector<problem> const later = problems_of_start(
        request.settings,
        [&](tls::certificate_paths const& paths, tls::scanned_certificate const& found) {
            known.insert_or_assign(tls::origin_of(paths), inspected(found));
        });
    auto const now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    inventory const all = take_inventory(request.settings, known, now);
    problem_filter const filter{all};
    std::vector<problem> unsaid;
    for (problem const& each : later)
        if (!filter.is_said(each))
            unsaid.push_back(each);
    add_other_places(problems, std::move(unsaid));

    if (request.json) {
        print_json(all, problems, now);
    } else {
        report(problems);
        print_blocks(all, request.all, now);
    }
    bool const is_good = !has_errors(problems) && count_findings(all)[0] == 0;
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace cleat::app
