#include "inspect/findings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

namespace cleat::app::findings_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

constexpr std::chrono::sys_seconds today = std::chrono::sys_days{2030y / 1 / 1};

std::int64_t seconds_at(std::chrono::sys_seconds time)
{
    return time.time_since_epoch().count();
}

// Nothing is wrong with it.
tls::certificate_description good()
{
    tls::certificate_description facts;
    facts.names = {"site.example"};
    facts.has_san = true;
    facts.family = tls::key_family::elliptic_curve;
    facts.key_bits = 256;
    facts.valid_from = seconds_at(today - days{30});
    facts.valid_until = seconds_at(today + days{60});
    facts.lifetime = days{90};
    return facts;
}

// "error expired", in the order of the findings.
std::vector<std::string> found(
    tls::certificate_description const& facts, std::string_view error = {})
{
    std::vector<std::string> all;
    for (finding const& each : findings_of(facts, error, today))
        all.push_back(std::string{to_string(each.grade)} + ' ' + std::string{to_string(each.kind)});
    return all;
}

using texts = std::vector<std::string>;

texts when_it_ends(std::chrono::sys_seconds end, std::chrono::seconds lifetime = days{90})
{
    tls::certificate_description facts = good();
    facts.lifetime = lifetime;
    facts.valid_until = seconds_at(end);
    return found(facts);
}

} // namespace

TEST_CASE("a good certificate has no finding")
{
    CHECK(found(good()).empty());
}

TEST_CASE("the end is a notice within 30 days, a warning within 7, an error within one")
{
    CHECK(when_it_ends(today + days{30} + 1s).empty());
    CHECK(when_it_ends(today + days{30}) == texts{"notice expires-soon"});
    CHECK(when_it_ends(today + days{7} + 1s) == texts{"notice expires-soon"});
    CHECK(when_it_ends(today + days{7}) == texts{"warning expires-soon"});
    CHECK(when_it_ends(today + days{1} + 1s) == texts{"warning expires-soon"});
    CHECK(when_it_ends(today + days{1}) == texts{"error expires-soon"});
    CHECK(when_it_ends(today) == texts{"error expired"});
}

TEST_CASE("the end of a certificate that its client renews later is no finding")
{
    CHECK(when_it_ends(today + days{15}, days{45}).empty());
    CHECK(when_it_ends(today + days{7}, days{45}) == texts{"warning expires-soon"});
    CHECK(when_it_ends(today + days{2}, days{6}).empty());
    CHECK(when_it_ends(today + days{1}, days{6}) == texts{"error expires-soon"});
}

TEST_CASE("a certificate of the future is an error")
{
    tls::certificate_description facts = good();
    facts.valid_from = seconds_at(today + 1s);
    CHECK(found(facts) == texts{"error not-yet-valid"});
}

TEST_CASE("dates of the chain count, too")
{
    tls::certificate_description facts = good();
    facts.chain.push_back({"CA", facts.valid_from, seconds_at(today)});
    CHECK(found(facts) == texts{"error chain-date"});
    facts.chain.front() = {"CA", seconds_at(today + 1s), facts.valid_until};
    CHECK(found(facts) == texts{"error chain-date"});
}

TEST_CASE("an issuer that is not in the file, and a wrong order, are warnings")
{
    tls::certificate_description facts = good();
    facts.lacks_issuer = true;
    CHECK(found(facts) == texts{"warning missing-intermediate"});
    facts.lacks_issuer = false;
    facts.misplaced = {2};
    CHECK(found(facts) == texts{"warning wrong-order"});
}

TEST_CASE("RSA needs 2048 bits, a curve 256, and Ed25519 has what it has")
{
    tls::certificate_description facts = good();
    facts.key_bits = 255;
    CHECK(found(facts) == texts{"warning weak-key"});
    facts.family = tls::key_family::rsa;
    facts.key_bits = 2047;
    CHECK(found(facts) == texts{"warning weak-key"});
    facts.key_bits = 2048;
    CHECK(found(facts).empty());
    facts.family = tls::key_family::other;
    facts.key_bits = 253;
    CHECK(found(facts).empty());
}

TEST_CASE("SHA-1, no SAN, and names that no client asks for are warnings")
{
    tls::certificate_description facts = good();
    facts.is_sha1 = true;
    facts.has_san = false;
    facts.unusable_names = {"a.*.example"};
    CHECK(
        found(facts) == texts{"warning sha1-signature", "warning no-san", "warning unusable-name"});
}

TEST_CASE("a certificate that cannot be served says whether its key is the cause")
{
    tls::certificate_description facts = good();
    CHECK(found(facts, "refused") == texts{"error unusable"});
    facts.key_matches = false;
    CHECK(found(facts, "another key") == texts{"error key-mismatch"});
    std::vector<finding> const unread = findings_of({}, "cannot read it", today);
    REQUIRE(unread.size() == 1);
    CHECK(unread.front().text == "cannot read it");
}

TEST_CASE("days that are left are whole ones")
{
    CHECK(days_until(seconds_at(today + days{2} - 1s), today) == 1);
    CHECK(days_until(seconds_at(today - 1s), today) == -1);
}

} // namespace cleat::app::findings_test
