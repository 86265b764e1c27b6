#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_secret.hpp>
#include <cleat/tls/ticket_watch.hpp>
#include <cleat/tls/wiped_ticket_secret.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace cleat::tls::ticket_keys_test {
namespace {

using namespace std::chrono_literals;

std::chrono::system_clock::time_point test_time{1'700'000'000s};

std::chrono::system_clock::time_point test_clock()
{
    return test_time;
}

std::shared_ptr<ticket_secret const> secret_of(std::uint8_t fill)
{
    std::shared_ptr<ticket_secret> const secret = empty_ticket_secret();
    secret->fill(std::byte{fill});
    return secret;
}

ticket_sources sources_of(std::vector<std::shared_ptr<ticket_secret const>> secrets)
{
    return {.secrets = std::move(secrets)};
}

constexpr ticket_times ten_minutes{600s, 600s};

struct ticket_keys_fixture
{
    ticket_keys_fixture()
    {
        test_time = std::chrono::system_clock::time_point{1'700'000'400s};
    } // An epoch's start.
    backend::library_state library;
    ticket_keys keys{library, sources_of({secret_of(1)}), ten_minutes, test_clock};
};

TEST_CASE_FIXTURE(
    ticket_keys_fixture,
    "a ticket is good in its epoch, renewed in the next, and gone when each clock says so")
{
    REQUIRE(keys.current() != nullptr);
    ticket_keys::key const sealed = *keys.current();

    test_time += 599s;
    CHECK(keys.find(sealed.name).sealing_key != nullptr);
    CHECK(!keys.find(sealed.name).renew);

    test_time += 1s;
    ticket_keys::opened const last = keys.find(sealed.name);
    REQUIRE(last.sealing_key != nullptr);
    CHECK(last.renew);
    CHECK(last.sealing_key->aes == sealed.aes);
    CHECK(last.sealing_key->hmac == sealed.hmac);
    CHECK(keys.current()->name != sealed.name);

    test_time += 600s; // For a host whose clock is an epoch behind, the ticket still lives.
    CHECK(keys.find(sealed.name).sealing_key != nullptr);
    test_time += 600s;
    CHECK(keys.find(sealed.name).sealing_key == nullptr);
}

TEST_CASE_FIXTURE(
    ticket_keys_fixture, "a ticket opens on a host whose clock differs by an epoch, and no more")
{
    for (std::chrono::seconds const lifetime : {300s, 600s, 601s, 3600s}) {
        ticket_keys other{library, sources_of({secret_of(1)}), {600s, lifetime}, test_clock};
        for (std::chrono::seconds const begin : {0s, 1s, 599s}) {
            auto const sealed_at = std::chrono::system_clock::time_point{1'700'000'400s} + begin;
            test_time = sealed_at;
            ticket_keys::key const sealed = *keys.current();
            auto const opens_at = [&](std::chrono::seconds difference) {
                test_time = sealed_at + difference;
                return other.find(sealed.name).sealing_key != nullptr;
            };
            CHECK(opens_at(-600s)); // This host's clock is behind.
            CHECK(!opens_at(-1200s));
            CHECK(opens_at(lifetime - 1s));
            CHECK(opens_at(lifetime - 1s + 600s)); // It is ahead.
            CHECK(!opens_at(lifetime + 1800s));
        }
    }
}

TEST_CASE_FIXTURE(
    ticket_keys_fixture, "a ticket of the next epoch is replaced by one of that epoch")
{
    ticket_keys::key const present = *keys.current();
    test_time += 600s;
    ticket_keys::key const next = *keys.current();
    test_time -= 600s;
    client_ticket seen;
    {
        ticket_watch const watch{seen};
        CHECK(keys.find(next.name).sealing_key != nullptr);
        CHECK(seen.made_by == 1'700'000'400 + 1199);
        CHECK(keys.current()->name == next.name);
        CHECK(keys.find(present.name).sealing_key != nullptr);
        CHECK(seen.made_by == 1'700'000'400 + 599);
        CHECK(keys.current()->name == present.name);
    }
    CHECK(keys.current()->name == present.name);
    test_time += 600s;
    ticket_watch const watch{seen};
    CHECK(keys.find(present.name).sealing_key != nullptr);
    CHECK(seen.use == ticket_use::opened);
    CHECK(seen.made_by == 0);
    CHECK(keys.current()->name == next.name);
    CHECK(keys.find(std::array<std::uint8_t, 16>{}).sealing_key == nullptr);
    CHECK(seen.use == ticket_use::unknown_key);
}

TEST_CASE_FIXTURE(
    ticket_keys_fixture, "a secret is carried to all hosts at the end before it moves to the front")
{
    auto const is_opened = [](ticket_keys& host, ticket_keys& sealing) {
        return host.find(sealing.current()->name).sealing_key != nullptr;
    };
    ticket_keys with_new{
        library, sources_of({secret_of(1), secret_of(2)}), ten_minutes, test_clock};
    ticket_keys moved{library, sources_of({secret_of(2), secret_of(1)}), ten_minutes, test_clock};
    ticket_keys done{library, sources_of({secret_of(2)}), ten_minutes, test_clock};
    CHECK(is_opened(keys, with_new));
    CHECK(is_opened(with_new, keys));
    CHECK(is_opened(with_new, moved));
    CHECK(is_opened(moved, with_new));
    CHECK(is_opened(done, moved));
    CHECK(!is_opened(keys, moved));

    CHECK(moved.find(moved.current()->name).secret == 0);
    CHECK(!moved.find(moved.current()->name).renew);
    CHECK(moved.find(keys.current()->name).secret == 1);
    CHECK(moved.find(keys.current()->name).renew); // So that its secret can be taken away.
}

TEST_CASE("each new secret is different")
{
    auto const one = new_ticket_secret();
    CHECK(*one != *new_ticket_secret());
    CHECK(*one != ticket_secret{});
}

TEST_CASE_FIXTURE(ticket_keys_fixture, "two ticket_keys with one secret have the same keys")
{
    ticket_keys other{library, sources_of({secret_of(1)}), ten_minutes, test_clock};
    CHECK(other.current()->name == keys.current()->name);
    CHECK(other.current()->aes == keys.current()->aes);
    ticket_keys stranger{library, sources_of({secret_of(2)}), ten_minutes, test_clock};
    CHECK(stranger.current()->name != keys.current()->name);
    CHECK(stranger.find(keys.current()->name).sealing_key == nullptr);
}

TEST_CASE_FIXTURE(ticket_keys_fixture, "the parts of a key and the keys of two epochs differ")
{
    ticket_keys::key const first = *keys.current();
    CHECK(first.aes != first.hmac);
    CHECK(std::memcmp(first.name.data(), first.aes.data(), first.name.size()) != 0);
    test_time += 600s;
    ticket_keys::key const second = *keys.current();
    CHECK(first.aes != second.aes);
    CHECK(first.hmac != second.hmac);
}

TEST_CASE_FIXTURE(
    ticket_keys_fixture, "a clock that jumps back or far ahead finds the keys of its time")
{
    ticket_keys::key const original = *keys.current();
    test_time += 24h * 365;
    CHECK(keys.find(original.name).sealing_key == nullptr);
    test_time -= 24h * 365;
    CHECK(keys.find(original.name).sealing_key != nullptr);
    CHECK(keys.current()->aes == original.aes);
}

TEST_CASE_FIXTURE(ticket_keys_fixture, "nothing secret is left in memory when keys are wiped")
{
    ticket_keys::key const& seals = *keys.current();
    ticket_keys::key const known = seals;
    ticket_keys::key const& earlier = *(&seals + 1);
    REQUIRE(earlier.aes != ticket_keys::key{}.aes);
    keys.wipe();
    CHECK(std::memcmp(&seals, &known, sizeof known) != 0);
    CHECK(seals.aes == ticket_keys::key{}.aes);
    CHECK(seals.hmac == ticket_keys::key{}.hmac);
    CHECK(earlier.aes == ticket_keys::key{}.aes);
    CHECK(keys.current()->aes == known.aes);
}

TEST_CASE("nothing of a secret is left in memory when it is dropped")
{
    alignas(wiped_ticket_secret) static unsigned char memory[sizeof(wiped_ticket_secret)];
    auto* const dropped = new (memory) wiped_ticket_secret;
    dropped->secret.fill(std::byte{7});
    dropped->~wiped_ticket_secret();
    CHECK(memory[0] == 0);
    CHECK(std::memcmp(memory, memory + 1, sizeof memory - 1) == 0);
}

} // namespace
} // namespace cleat::tls::ticket_keys_test
