#include "overload/signature_cost.hpp"

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/context.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace cleat::app::signature_cost_test {
namespace {

using enum signature_cost;

// The bodies of extensions, and suites.
constexpr std::array<std::uint8_t, 3> only_1_3{2, 3, 4};
constexpr std::array<std::uint8_t, 6> ecdsa_and_rsa{0, 4, 4, 3, 8, 4};
constexpr std::array<std::uint8_t, 4> rsa_alone{0, 2, 8, 4};
constexpr std::array<std::uint8_t, 4> p256{0, 2, 0, 23};
constexpr std::array<std::uint8_t, 2> suite_1_3{0x13, 1};

tls::hello_facts hello(std::string_view name, tls::octets schemes)
{
    return {.server_name = name, .offer = {suite_1_3, schemes, p256, only_1_3}};
}

struct costs_fixture
{
    tls::context_spec spec;

    costs_fixture()
    {
        spec.certificates = {
            tls::make_identity({.names = {"both.test"}}).source("ecdsa.pem"),
            tls::make_identity({.type = tls::key_type::rsa, .names = {"both.test", "old.test"}})
                .source("rsa.pem")};
    }
};

TEST_CASE_FIXTURE(costs_fixture, "the cost is that of the certificate that the client gets")
{
    tls::context const server{spec};
    CHECK(cost_of(hello("both.test", ecdsa_and_rsa), server) == low);
    CHECK(cost_of(hello("both.test", rsa_alone), server) == high);
    CHECK(cost_of(hello("old.test", ecdsa_and_rsa), server) == high);
    CHECK(cost_of(hello("unknown.test", ecdsa_and_rsa), server) == high); // The default.
}

TEST_CASE_FIXTURE(costs_fixture, "a client that is refused costs no signature")
{
    spec.refuse_unknown_names = true;
    CHECK(cost_of(hello("unknown.test", rsa_alone), tls::context{spec}) == low);
}

TEST_CASE_FIXTURE(costs_fixture, "with one certificate every client has its cost")
{
    spec.certificates.erase(spec.certificates.begin());
    CHECK(cost_of(hello("both.test", ecdsa_and_rsa), tls::context{spec}) == high);
    CHECK(cost_of({}, tls::context{spec}) == high);
}

} // namespace
} // namespace cleat::app::signature_cost_test
