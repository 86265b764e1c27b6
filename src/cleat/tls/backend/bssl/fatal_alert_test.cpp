// The alert of a side that gives up an established connection.

#include <cleat/core/text_for_tests.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/connection_for_tests.hpp>
#include <cleat/tls/split_wire_for_tests.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cleat::tls::fatal_alert_test {
namespace {

context context_of(protocol_version version, role r)
{
    static test_identity const identity = make_identity({.names = {"cleat.example"}});
    context_spec spec;
    spec.role = r;
    spec.version_min = spec.version_max = version;
    spec.groups = "X25519:P-256";
    if (r == role::server)
        spec.certificates.push_back(identity.source("test"));
    return context{spec};
}

TEST_CASE("a side that fails is heard by its number, split and cut at any position")
{
    for (protocol_version const version : both_versions) {
        context const server = context_of(version, role::server);
        context const client = context_of(version, role::client);
        std::size_t length = 1; // Of all that the client reads.
        for (std::size_t position = 0; position <= length; ++position) {
            for (bool const cut : {false, true}) {
                delivery const how =
                    cut ? delivery{.cut_at = position} : delivery{.split_at = position};
                engine_pair d{server, client, {}, how};
                d.handshake();
                if (!d.server.engine.established() || !d.client.engine.established())
                    continue;
                auto const fail = [](engine& e, wire& w) { return e.fail(w); };
                CHECK(!drive(d.server, d.client, fail).error);
                std::vector<std::byte> nothing;
                error_code const end = read_all(d.client, d.server, nothing).error;
                length = std::max(length, d.client.received.size());
                bool const whole_alert = !cut || position >= d.client.received.size();
                CHECK_MESSAGE(
                    end == (whole_alert ? error::peer_alert : error::truncated), "at " << position);
                if (whole_alert)
                    CHECK(d.client.engine.failure().peer_alert == SSL_AD_INTERNAL_ERROR);
                CHECK(nothing.empty());
                // Once, and instead of a close_notify.
                std::size_t const sent = d.client.received.size();
                CHECK(!drive(d.server, d.client, fail).error);
                CHECK(!close(d.server, d.client).error);
                CHECK(d.client.received.size() == sent);
            }
        }
        CHECK(length > 100);
    }
}

} // namespace
} // namespace cleat::tls::fatal_alert_test
