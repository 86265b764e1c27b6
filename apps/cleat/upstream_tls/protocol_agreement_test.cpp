#include "upstream_tls/protocol_agreement.hpp"

#include <doctest/doctest.h>

namespace cleat::app::protocol_agreement_test {

TEST_CASE("only http/1.1 needs no consent of the server")
{
    CHECK(is_agreement("h2", "h2"));
    CHECK_FALSE(is_agreement("h2", ""));
    CHECK_FALSE(is_agreement("h2", "http/1.1"));
    CHECK(is_agreement("http/1.1", ""));
    CHECK_FALSE(is_agreement("http/1.1", "h2"));
}

} // namespace cleat::app::protocol_agreement_test
