#include "overload/session_claim.hpp"

#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificates_for_tests.hpp>
#include <cleat/tls/ticket_keys.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cleat::app::session_claim_test {
namespace {

using namespace std::chrono_literals;
using bytes = std::vector<std::uint8_t>;

constexpr std::array<std::byte, 100> encoded{};

std::shared_ptr<tls::ticket_secret const> secret_of(std::uint8_t fill)
{
    tls::ticket_secret secret{};
    secret.fill(std::byte{fill});
    return std::make_shared<tls::ticket_secret const>(secret);
}

tls::context_spec server_spec()
{
    tls::context_spec spec;
    spec.certificates = {tls::make_identity({.names = {"a.test"}}).source("a.pem")};
    spec.tickets = secret_of(1);
    return spec;
}

struct claims_fixture
{
    tls::context_spec const spec = server_spec();
    tls::context const server{spec};
    tls::session_id_cache sessions{1, 3};

    claims_fixture() { sessions.bound(10, 1h); }

    // A ticket of this moment, sealed with a key of the secret, as far as its name shows.
    bytes ticket_of(std::uint8_t secret) const
    {
        tls::backend::library_state const library;
        tls::ticket_keys keys{library, {{secret_of(secret)}, {}}, tls::ticket_times_of(spec)};
        tls::ticket_keys::key const* const current = keys.current();
        REQUIRE(current != nullptr);
        bytes made{current->name.begin(), current->name.end()};
        made.resize(200);
        return made;
    }

    session_claim by_ticket(bytes const& ticket) const
    {
        return claim_of({.ticket = ticket}, server, &sessions);
    }

    session_claim by_id(bytes const& id) const
    {
        return claim_of({.session_id = id}, server, &sessions);
    }
};

bytes id_of(std::size_t worker, std::uint8_t fill)
{
    tls::session_id id{};
    id.fill(fill);
    tls::name_worker(id, worker);
    return {id.begin(), id.end()};
}

TEST_CASE_FIXTURE(claims_fixture, "a client without a ticket or an ID claims nothing")
{
    CHECK(claim_of({}, server, &sessions) == session_claim::none);
    CHECK(claim_of({}, server, nullptr) == session_claim::none);
}

TEST_CASE_FIXTURE(claims_fixture, "a ticket claims a session by the name of a key that is here")
{
    CHECK(by_ticket(ticket_of(1)) == session_claim::here);
    CHECK(by_ticket(ticket_of(2)) == session_claim::none); // Another server's.
    CHECK(by_ticket(bytes(200, 0x55)) == session_claim::none);
    CHECK(by_ticket({1, 2}) == session_claim::none);
    bytes name = ticket_of(1);
    name.resize(16); // Nothing is sealed in it.
    CHECK(by_ticket(name) == session_claim::none);
}

TEST_CASE_FIXTURE(claims_fixture, "a server without tickets has no key for one")
{
    tls::context_spec without = spec;
    without.tickets = nullptr;
    bytes const ticket = ticket_of(1);
    CHECK(claim_of({.ticket = ticket}, tls::context{without}, nullptr) == session_claim::none);
}

TEST_CASE_FIXTURE(claims_fixture, "an ID claims a session that this worker has")
{
    bytes const known = id_of(1, 7);
    tls::session_id id{};
    std::ranges::copy(known, id.begin());
    sessions.keep(id, encoded, tls::session_id_cache::clock::now());
    CHECK(by_id(known) == session_claim::here);
    CHECK(by_id(id_of(1, 8)) == session_claim::none);
    CHECK(by_id(bytes(16, 7)) == session_claim::none); // Another server's size.
    CHECK(claim_of({.session_id = known}, server, nullptr) == session_claim::none);
}

TEST_CASE_FIXTURE(claims_fixture, "an ID of another worker's may be false")
{
    CHECK(by_id(id_of(2, 7)) == session_claim::elsewhere);
    CHECK(by_id(id_of(3, 7)) == session_claim::none); // There is no such worker.
    sessions.bound(0, 1h);
    CHECK(by_id(id_of(2, 7)) == session_claim::none); // No worker keeps sessions.
}

} // namespace
} // namespace cleat::app::session_claim_test
