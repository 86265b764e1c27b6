#include "config/parser.hpp"
#include "snapshot/client_rules_loading.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cleat::app {

std::shared_ptr<client_check const> client_rules_loading::find(tls_scope const& scope)
{
    if (!asks_clients(settings_, scope))
        return nullptr;
    bool const has_own =
        !scope.certificate_rules().empty() || scope.own(&frontend_config::client_allow_file);
    std::vector<allow_config> const& written =
        has_own ? scope.certificate_rules() : settings_.certificate_rules;
    setting<std::string> const none;
    setting<std::string> const& global = has_own ? none : settings_.client_allow_file;
    setting<std::string> const& file =
        effective(scope.own(&frontend_config::client_allow_file), global);
    std::string const first = written.empty() ? "" : to_string(written.front().location);
    std::shared_ptr<client_check const>& known = checks_[{first, *file}];
    if (known == nullptr)
        known = make(written, file, scope.place());
    return known;
}

std::shared_ptr<client_check const> client_rules_loading::make(
    std::vector<allow_config> const& written, setting<std::string> const& file,
    location const& place)
{
    std::vector<allow_rule> all = rules_of(written);
    if (!file->empty())
        std::ranges::move(rules_of(read(file)), std::back_inserter(all));
    if (all.size() > limits::allow_rules_max)
        problems_.error(
            file->empty() ? place : file.location,
            file->empty() ? "client-allow" : "client-allow-file",
            fmt::format("there are {} rules, and may be {}", all.size(), limits::allow_rules_max),
            "Write several values into one rule, or a pattern such as spiffe://example.org/web/*.");
    bool const has_rules = !written.empty() || !file->empty();
    return std::make_shared<client_check const>(
        client_check{.has_rules = has_rules, .rules = allow_rules{std::move(all)}});
}

std::vector<allow_config> const& client_rules_loading::read(setting<std::string> const& file)
{
    auto const [known, is_new] = files_.try_emplace(*file);
    if (!is_new)
        return known->second;
    tls::file_text const text =
        tls::read_file(*file, root_files_.for_files(), limits::allow_file_max);
    if (text.fault != tls::file_fault::none) {
        problems_.error(
            file.location, "client-allow-file", tls::description(text, *file),
            std::string{tls::cure(text)});
        return known->second;
    }
    allow_list list;
    std::vector<problem> found;
    parse_allow_list(text.text.view(), *file, list, found);
    for (allow_config const& each : list.certificate_rules)
        if (each.conditions.empty() && found.empty())
            problems_.error(
                each.location, "client-allow",
                "this rule asks for nothing, so every certificate would meet it",
                "Add a condition, such as uri = \"spiffe://example.org/web\", or leave it out.");
    for (problem const& each : found) {
        if (each.grade == problem::severity::error)
            problems_.error(each.where, each.key, each.text, each.cure);
        else
            problems_.warning(each.where, each.key, each.text);
    }
    known->second = std::move(list.certificate_rules);
    return known->second;
}

} // namespace cleat::app
