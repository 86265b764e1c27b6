// A client's connection with a name and a protocol of its own, and the fault of a certificate that
// it refuses.

#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <string>

namespace cleat::tls::server_name_test {
namespace {

struct authority_fixture
{
    test_identity root = make_identity({.common_name = "root", .authority = true});
    test_identity stranger = make_identity({.common_name = "stranger", .authority = true});

    [[nodiscard]] context server(
        test_identity const& issuer, int valid_from_days = -1, int valid_to_days = 30) const
    {
        context_spec spec;
        spec.alpn = {"h2", "http/1.1"};
        spec.certificates = {make_identity({.names = {"a.test"},
                                            .issuer = &issuer,
                                            .valid_from_days = valid_from_days,
                                            .valid_to_days = valid_to_days})
                                 .source("a.pem")};
        return context{spec};
    }
    [[nodiscard]] context client() const
    {
        context_spec spec;
        spec.role = role::client;
        spec.verify = peer_verification::required;
        spec.verify_authorities = root.certificate_pem;
        return context{spec};
    }

    // The fault that a client finds which asks for this name.
    [[nodiscard]] certificate_fault fault(context const& server, std::string const& name) const
    {
        context const settings = client();
        engine_pair pair{server, settings};
        REQUIRE(set_server_name(pair.client.engine.native_handle(), name));
        if (pair.established())
            return certificate_fault::none;
        return pair.client.engine.failure().certificate;
    }
};

TEST_CASE_FIXTURE(authority_fixture, "a certificate that is refused has a fault")
{
    CHECK(fault(server(root), "a.test") == certificate_fault::none);
    CHECK(fault(server(root), "b.test") == certificate_fault::wrong_name);
    CHECK(fault(server(root), "127.0.0.1") == certificate_fault::wrong_name);
    CHECK(fault(server(stranger), "a.test") == certificate_fault::unknown_authority);
    CHECK(fault(server(root, -9, -2), "a.test") == certificate_fault::expired);
    CHECK(fault(server(root, 2, 9), "a.test") == certificate_fault::not_yet_valid);
}

TEST_CASE_FIXTURE(authority_fixture, "the name of a connection is sent as SNI, an address is not")
{
    context const serving = server(root);
    context const settings = client();
    {
        engine_pair pair{serving, settings};
        REQUIRE(set_server_name(pair.client.engine.native_handle(), "a.test"));
        REQUIRE(pair.established());
        CHECK(pair.server.engine.info().server_name == "a.test");
    }
    engine_pair pair{serving, settings};
    REQUIRE(set_server_name(pair.client.engine.native_handle(), "127.0.0.1"));
    static_cast<void>(pair.established());
    CHECK(pair.server.engine.info().server_name.empty());
}

TEST_CASE_FIXTURE(authority_fixture, "a connection offers a protocol of its own")
{
    context const serving = server(root);
    context const settings = client();
    for (std::string const protocol : {"h2", "http/1.1"}) {
        engine_pair pair{serving, settings};
        REQUIRE(offer_protocol(pair.client.engine.native_handle(), protocol));
        REQUIRE(pair.established());
        CHECK(pair.client.engine.info().alpn == protocol);
    }
}

TEST_CASE("the fault of a server's certificate is an error of its own")
{
    auto const named = [](certificate_fault fault) {
        failure_info failure;
        failure.certificate = fault;
        return name_fault(error::bad_certificate, failure);
    };
    CHECK(named(certificate_fault::expired) == error::certificate_expired);
    CHECK(named(certificate_fault::not_yet_valid) == error::certificate_not_yet_valid);
    CHECK(named(certificate_fault::unknown_authority) == error::unknown_authority);
    CHECK(named(certificate_fault::wrong_name) == error::wrong_name);
    CHECK(named(certificate_fault::revoked) == error::certificate_revoked);
    CHECK(named(certificate_fault::other) == error::bad_certificate);
    failure_info expired;
    expired.certificate = certificate_fault::expired;
    CHECK(name_fault(error::peer_alert, expired) == error::peer_alert);
    CHECK(name_fault({}, expired) == error_code{});
}

} // namespace
} // namespace cleat::tls::server_name_test
