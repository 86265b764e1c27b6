#include "config/check.hpp"
#include "config/config.hpp"
#include "config/parser.hpp"
#include "input_reader.hpp"
#include "route/route_table.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace cleat::fuzz {
namespace {

// The list's order, one route after the other: what the table's indexes have to find, too.
std::optional<app::route_table::number> first_alone(
    std::vector<app::route_rule> const& rules, app::route_question const& question)
{
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (app::route_table{std::span{&rules[i], 1}}.choose(question))
            return static_cast<app::route_table::number>(i);
    return std::nullopt;
}

app::ip_address address_from(input_reader& from)
{
    app::ip_address made;
    made.is_ipv6 = from.number(1) % 2 == 1;
    std::ranges::copy(from.take(made.size()), made.bytes.begin());
    return made;
}

} // namespace

// The input is a client's wishes, and then a configuration with its routes.
void routes(octets input)
{
    input_reader from{input};
    auto const flags = static_cast<unsigned>(from.number(1));
    app::ip_address const client = address_from(from);
    app::route_question question;
    question.server_name = from.text();
    question.agreed = from.text();
    std::string_view const offered = from.text();
    question.offered = {reinterpret_cast<unsigned char const*>(offered.data()), offered.size()};
    if ((flags & 1U) != 0)
        question.client = client;
    question.is_established = (flags & 2U) != 0;

    app::config settings;
    std::vector<app::problem> problems;
    app::parse_config(text_of(from.rest()), "cleat.conf", app::dialect::hitch, settings, problems);
    app::check(settings, problems);
    for (app::frontend_config const& each : settings.frontends) {
        std::vector<app::route_rule> const rules = app::rules_of(each);
        app::route_table const table{rules};
        std::optional<app::route_table::number> const chosen = table.choose(question);
        CLEAT_ASSERT(chosen == first_alone(rules, question));
        for (app::route_table::number route = 0; route < rules.size(); ++route) {
            std::optional<app::route_table::number> const cover = table.find_cover(route, nullptr);
            CLEAT_ASSERT(!cover || *cover < route);
        }
    }
}

} // namespace cleat::fuzz
