#include "client_rules/allow_rule.hpp"
#include "config/parser.hpp"
#include "input_reader.hpp"
#include "targets.hpp"

#include <cleat/core/assert.hpp>

#include <string>
#include <vector>

namespace cleat::fuzz {
namespace {

tls::client_certificate certificate_from(input_reader& from)
{
    tls::client_certificate made;
    made.common_name = from.line();
    made.subject = from.line();
    made.issuer = from.line();
    made.dns_names = {std::string{from.line()}, std::string{from.line()}};
    made.uris = {std::string{from.line()}};
    made.emails = {std::string{from.line()}};
    made.addresses = {std::string{from.line()}};
    made.purposes = {std::string{from.line()}};
    return made;
}

} // namespace

// Nine lines are the texts of a client's certificate, the rest is a client-allow-file.
void client_rules(octets input)
{
    input_reader from{input};
    tls::client_certificate const shown = certificate_from(from);
    app::allow_list list;
    std::vector<app::problem> problems;
    app::parse_allow_list(text_of(from.rest()), "allow", list, problems);
    for (app::problem const& each : problems)
        CLEAT_ASSERT(!app::to_string(each).empty());
    app::allow_rules const rules{app::rules_of(list.certificate_rules)};
    if (rules.empty())
        return;
    // An explanation is for a certificate that no rule takes.
    if (rules.find(shown) == nullptr)
        CLEAT_ASSERT(!rules.explain(shown).empty());
}

} // namespace cleat::fuzz
