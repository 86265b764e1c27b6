#include "upstream/check_rule.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>

namespace cleat::app::check_rule_test {
namespace {

check_rule rule_of(std::string const& authorities, std::string const& chain)
{
    check_tls made;
    made.spec.verify_authorities = authorities;
    made.certificate.fill(static_cast<std::byte>(chain.size()));
    check_rule rule{.is_on = true};
    rule.tls = std::make_shared<check_tls const>(std::move(made));
    return rule;
}

} // namespace

TEST_CASE("rules of two loads are the same where their files are")
{
    CHECK(check_rule{} == check_rule{});
    CHECK(rule_of("ca", "own") == rule_of("ca", "own"));
    CHECK_FALSE(rule_of("ca", "own") == rule_of("other", "own"));
    CHECK_FALSE(rule_of("ca", "own") == rule_of("ca", "renewed"));
    CHECK_FALSE(rule_of("ca", "own") == check_rule{.is_on = true});
}

TEST_CASE("another text, header or place of it is another rule")
{
    check_rule rule = rule_of("ca", "own");
    rule.header = "PROXY UNKNOWN\r\n";
    CHECK_FALSE(rule == rule_of("ca", "own"));
    check_tls inside = *rule.tls;
    inside.is_header_inside = true;
    check_rule const other{
        .is_on = true, .header = rule.header, .tls = std::make_shared<check_tls const>(inside)};
    CHECK_FALSE(rule == other);
}

} // namespace cleat::app::check_rule_test
