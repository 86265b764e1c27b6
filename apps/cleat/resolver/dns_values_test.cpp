#include "resolver/dns_values.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cleat::app::dns_values_test {
namespace {

net::address address_of(std::string const& host)
{
    return net::resolve(host, "80").value().front();
}

} // namespace

TEST_CASE("numbers and localhost are not looked up")
{
    for (char const* const each :
         {"192.0.2.1", "127.1", "::1", "2001:db8::7", "localhost", "app.localhost"}) {
        CAPTURE(each);
        CHECK_FALSE(is_name(each));
    }
    for (char const* const each : {"app", "app.example", "app.example.", "1.app", "nolocalhost"}) {
        CAPTURE(each);
        CHECK(is_name(each));
    }
}

TEST_CASE("an answer in another order is the same")
{
    std::vector<net::address> const one{address_of("192.0.2.1"), address_of("::1")};
    std::vector<net::address> const other{address_of("::1"), address_of("192.0.2.1")};
    CHECK(has_same_addresses(one, other));
    CHECK_FALSE(has_same_addresses(one, {one.front()}));
    CHECK_FALSE(has_same_addresses(one, {one.front(), one.front()}));
    CHECK(have_same_targets(
        std::vector<dns_target>{{"a", one}, {"b", one}},
        std::vector<dns_target>{{"b", other}, {"a", one}}));
    CHECK_FALSE(have_same_targets(
        std::vector<dns_target>{{"a", one, 1}}, std::vector<dns_target>{{"a", one, 2}}));
    CHECK_FALSE(have_same_targets(
        std::vector<dns_target>{{"a", one, 1, true}}, std::vector<dns_target>{{"a", one, 1}}));
}

} // namespace cleat::app::dns_values_test
