#include "upstream_tls/tls_fault.hpp"

#include <doctest/doctest.h>

namespace cleat::app::tls_fault_test {
namespace {

error_code named(tls::certificate_fault fault)
{
    tls::failure_info failure;
    failure.certificate = fault;
    return name_fault(error::bad_certificate, failure);
}

TEST_CASE("a certificate that was refused has the name of its fault")
{
    using tls::certificate_fault;
    CHECK(named(certificate_fault::expired) == error::certificate_expired);
    CHECK(named(certificate_fault::not_yet_valid) == error::certificate_not_yet_valid);
    CHECK(named(certificate_fault::unknown_authority) == error::unknown_authority);
    CHECK(named(certificate_fault::wrong_name) == error::wrong_name);
    CHECK(named(certificate_fault::other) == error::bad_certificate);
}

TEST_CASE("any other error keeps its name")
{
    tls::failure_info failure;
    failure.certificate = tls::certificate_fault::expired;
    CHECK(name_fault(error::peer_alert, failure) == error::peer_alert);
    CHECK(name_fault({}, failure) == error_code{});
}

TEST_CASE("only http/1.1 needs no consent of the server")
{
    CHECK(is_agreement("h2", "h2"));
    CHECK_FALSE(is_agreement("h2", ""));
    CHECK_FALSE(is_agreement("h2", "http/1.1"));
    CHECK(is_agreement("http/1.1", ""));
    CHECK_FALSE(is_agreement("http/1.1", "h2"));
}

} // namespace
} // namespace cleat::app::tls_fault_test
