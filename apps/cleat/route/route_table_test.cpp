#include "route/route_table.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleat::app::route_table_test {
namespace {

using kind = server_name_pattern::kind;

server_name_pattern name(std::string text)
{
    if (text == "none")
        return {kind::none, ""};
    if (text.starts_with("*."))
        return {kind::wildcard, text.substr(2)};
    return {kind::exact, std::move(text)};
}

ip_prefix ten(unsigned length)
{
    ip_prefix made{.length = length};
    made.network.bytes[0] = 10;
    return made;
}

route_rule by_name(std::string const& text)
{
    return {.names = {name(text)}};
}

route_rule by_protocol(std::string const& protocol)
{
    return {.protocols = {protocol}};
}

route_rule by_client(unsigned length)
{
    return {.clients = {ten(length)}};
}

int chosen(route_table const& table, route_question const& question)
{
    std::optional<route_table::number> const found = table.choose(question);
    return found ? static_cast<int>(*found) : -1;
}

int chosen(route_table const& table, std::string_view server_name)
{
    return chosen(table, {.server_name = server_name});
}

int cover(std::vector<route_rule> const& rules, std::string const& of_name = "")
{
    route_table const table{rules};
    server_name_pattern const pattern = name(of_name);
    std::optional<route_table::number> const found = table.find_cover(
        static_cast<route_table::number>(rules.size() - 1), of_name.empty() ? nullptr : &pattern);
    return found ? static_cast<int>(*found) : -1;
}

TEST_CASE("a name is found whatever its case, and with a dot at the end")
{
    route_table const table{std::vector{by_name("www.example.org")}};
    CHECK(chosen(table, "www.example.org") == 0);
    CHECK(chosen(table, "WWW.Example.ORG.") == 0);
    CHECK(chosen(table, "example.org") == -1);
    CHECK(chosen(table, "a.www.example.org") == -1);
    CHECK(chosen(table, "") == -1);
    CHECK(chosen(table, std::string(70'000, 'a')) == -1);
    CHECK(chosen(table, ".") == -1);
}

TEST_CASE("a wildcard stands for one label")
{
    route_table const table{std::vector{by_name("*.example.org")}};
    CHECK(chosen(table, "a.example.org") == 0);
    CHECK(chosen(table, "example.org") == -1);
    CHECK(chosen(table, "a.b.example.org") == -1);
    CHECK(chosen(table, ".example.org") == -1);
}

TEST_CASE("none is a client without a name, and a route without names takes all")
{
    route_table const table{std::vector{by_name("none"), by_client(8), route_rule{}}};
    CHECK(chosen(table, "") == 0);
    CHECK(chosen(table, "a.example.org") == 2);
    CHECK(chosen(table, {.server_name = "a.example.org", .client = ten(32).network}) == 1);
}

TEST_CASE("the first route in the list wins, however its name is written")
{
    std::vector<route_rule> rules{
        by_protocol("acme"), by_name("a.example.org"), by_name("*.example.org"), route_rule{}};
    route_table const table{rules};
    CHECK(chosen(table, {.server_name = "a.example.org", .agreed = "acme"}) == 0);
    CHECK(chosen(table, "a.example.org") == 1);
    CHECK(chosen(table, "b.example.org") == 2);
    CHECK(chosen(table, "example.com") == 3);
    std::swap(rules[1], rules[2]);
    CHECK(chosen(route_table{rules}, "a.example.org") == 1);
}

TEST_CASE("all conditions of a route must hold, and one entry of each list")
{
    route_table const table{std::vector{route_rule{
        .names = {name("a.org"), name("*.b.org")},
        .protocols = {"h2", "http/1.1"},
        .clients = {ten(8)}}}};
    ip_address const inside = ten(32).network;
    CHECK(chosen(table, {.server_name = "a.org", .agreed = "h2", .client = inside}) == 0);
    CHECK(chosen(table, {.server_name = "x.b.org", .agreed = "http/1.1", .client = inside}) == 0);
    CHECK(chosen(table, {.server_name = "b.org", .agreed = "h2", .client = inside}) == -1);
    CHECK(chosen(table, {.server_name = "a.org", .agreed = "h3", .client = inside}) == -1);
    CHECK(chosen(table, {.server_name = "a.org", .agreed = "", .client = inside}) == -1);
    CHECK(chosen(table, {.server_name = "a.org", .agreed = "h2", .client = ip_address{}}) == -1);
    CHECK(chosen(table, {.server_name = "a.org", .agreed = "h2"}) == -1);
}

TEST_CASE("a lookup among many routes looks at those of its name only")
{
    std::vector<route_rule> rules;
    for (int i = 0; i < 10'000; ++i)
        rules.push_back(by_name(fmt::format("{}.example.org", i)));
    route_table const table{rules};
    for (int i = 0; i < 10'000; ++i)
        CHECK(chosen(table, fmt::format("{}.example.org", i)) == i);
    server_name_pattern const one = name("7.example.org");
    CHECK(table.count_alike(&one) == 1);
    CHECK(table.count_alike(nullptr) == 0);
}

TEST_CASE("a route is covered by an earlier one that takes all of its clients")
{
    CHECK(cover({by_name("a.org"), by_name("a.org")}, "a.org") == 0);
    CHECK(cover({by_name("*.a.org"), by_name("b.a.org")}, "b.a.org") == 0);
    CHECK(cover({by_name("b.a.org"), by_name("*.a.org")}, "*.a.org") == -1);
    CHECK(cover({by_name("*.a.org"), by_name("*.a.org")}, "*.a.org") == 0);
    CHECK(cover({by_name("*.a.org"), by_name("a.org")}, "a.org") == -1);
    CHECK(cover({by_name("none"), by_name("none")}, "none") == 0);
    CHECK(cover({route_rule{}, by_name("none")}, "none") == 0);
    CHECK(cover({by_name("a.org"), route_rule{}, by_name("a.org")}, "a.org") == 0);
    CHECK(cover({by_name("a.org"), by_protocol("h2")}) == -1);
    CHECK(cover({by_protocol("h2"), by_protocol("h2")}) == 0);
    CHECK(cover({by_protocol("h2"), route_rule{}}) == -1);
    CHECK(cover({by_protocol("h2"), route_rule{.protocols = {"h2", "h3"}}}) == -1);
    CHECK(cover({route_rule{.protocols = {"h2", "h3"}}, by_protocol("h3")}) == 0);
    CHECK(cover({by_client(8), by_client(16)}) == 0);
    CHECK(cover({by_client(16), by_client(8)}) == -1);
    CHECK(cover({by_client(8), route_rule{}}) == -1);
    CHECK(cover({by_client(8), route_rule{.protocols = {"h2"}, .clients = {ten(9)}}}) == 0);
}

route_rule passthrough(std::string const& protocol)
{
    route_rule made{.is_passthrough = true};
    if (!protocol.empty())
        made.protocols = {protocol};
    return made;
}

TEST_CASE("a passthrough is covered by an earlier route with rules for certificates")
{
    route_rule const ruled{.certificates = {allow_rule{}}};
    CHECK(cover({ruled, passthrough("")}) == 0);
    CHECK(cover({ruled, route_rule{}}) == -1);
    route_rule other = ruled;
    other.protocols = {"h2"}; // The client may offer h2, and agree on another protocol.
    CHECK(cover({other, passthrough("h2")}) == -1);
}

TEST_CASE("two patterns share a name")
{
    CHECK(share_a_name(name("a.org"), name("a.org")));
    CHECK_FALSE(share_a_name(name("a.org"), name("b.org")));
    for (auto const& [one, other] :
         {std::pair{name("*.a.org"), name("b.a.org")}, std::pair{name("b.a.org"), name("*.a.org")}})
        CHECK(share_a_name(one, other));
    CHECK(share_a_name(name("*.a.org"), name("*.a.org")));
    CHECK_FALSE(share_a_name(name("*.a.org"), name("a.org")));
    CHECK_FALSE(share_a_name(name("*.a.org"), name("c.b.a.org")));
    CHECK(share_a_name(name("none"), name("none")));
    CHECK_FALSE(share_a_name(name("none"), name("*.a.org")));
}

TEST_CASE("a passthrough takes clients that offer its protocol, and never an established one")
{
    route_table const table{std::vector{by_protocol("h2"), passthrough("acme-tls/1")}};
    std::vector<unsigned char> const offered{2,   'h', '3', 10,  'a', 'c', 'm',
                                             'e', '-', 't', 'l', 's', '/', '1'};
    CHECK(table.has_passthrough());
    CHECK(chosen(table, {.agreed = "h2", .offered = offered}) == 0);
    CHECK(chosen(table, {.offered = offered}) == 1);
    CHECK(chosen(table, {.offered = offered, .is_established = true}) == -1);
    CHECK(chosen(table, {.agreed = "acme-tls/1", .is_established = true}) == -1);
    // Lists that are cut, anywhere.
    for (std::size_t size = 0; size != offered.size(); ++size)
        CHECK(chosen(table, {.offered = std::span{offered}.first(size)}) == -1);
    CHECK_FALSE(route_table{std::vector{route_rule{}}}.has_passthrough());
}

TEST_CASE("what was offered covers what was agreed on, and not the other way round")
{
    CHECK(cover({passthrough("h2"), by_protocol("h2")}) == 0);
    CHECK(cover({by_protocol("h2"), passthrough("h2")}) == -1);
    CHECK(cover({passthrough(""), by_protocol("h2")}) == 0);
    CHECK(cover({route_rule{}, passthrough("h2")}) == 0);
}

} // namespace
TEST_CASE("the routes that a certificate may lead to are in their order, and each is there once")
{
    route_rule const any{.certificates = {allow_rule{}}};
    route_rule const two_names{
        .names = {name("a.example.org"), name("*.example.org")}, .certificates = {allow_rule{}}};
    route_rule const other{.names = {name("b.example.org")}, .certificates = {allow_rule{}}};
    route_table const table{std::vector{two_names, any, other, by_name("a.example.org"), any}};
    using numbers = std::vector<route_table::number>;
    CHECK(table.routes_by_certificate({.server_name = "a.example.org"}) == numbers{0, 1});
    CHECK(table.routes_by_certificate({.server_name = "b.example.org"}) == numbers{0, 1, 2, 4});
    CHECK(table.routes_by_certificate({}) == numbers{1, 4});
}

TEST_CASE("a route by certificate takes established clients that show one that meets a rule")
{
    allow_rule alice{.origin = "c:1"};
    alice.conditions.push_back(
        {.part = certificate_part::common_name, .text = "alice", .value = "alice"});
    std::vector<route_rule> const rules{
        {.certificates = {alice}}, {.certificates = {alice}}, {.protocols = {"h2"}}};
    route_table const table{rules};
    CHECK(table.asks_for_certificates());
    tls::client_certificate const shown{.common_name = "alice"};
    tls::client_certificate const other{.common_name = "bob"};
    CHECK(chosen(table, {.certificate = &shown, .is_established = true}) == 0);
    CHECK(chosen(table, {.certificate = &other, .is_established = true}) == -1);
    CHECK(chosen(table, {.agreed = "h2", .certificate = &other, .is_established = true}) == 2);
    CHECK(chosen(table, {.is_established = true}) == -1);
    // Before the handshake the certificate may yet be alice's: the client is not passed through.
    CHECK(chosen(table, route_question{}) == 0);
    // Rules are not compared, so none makes a later route unreachable.
    CHECK_FALSE(table.find_cover(1, nullptr).has_value());
}

} // namespace cleat::app::route_table_test
