#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <new>

namespace cleat::tls::ticket_keys_test {
namespace {

using namespace std::chrono_literals;

std::chrono::system_clock::time_point test_time{1'700'000'000s};

std::chrono::system_clock::time_point test_clock()
{
    return test_time;
}

constexpr ticket_secret secret_of(std::uint8_t fill)
{
    ticket_secret secret{};
    secret.fill(std::byte{fill});
    return secret;
}

struct ticket_keys_fixture
{
    ticket_keys_fixture()
    {
        test_time = std::chrono::system_clock::time_point{1'700'000'400s};
    } // An epoch's start.
    backend::library_state library;
    ticket_keys keys{library, secret_of(1), 600s, test_clock};
};

TEST_CASE_FIXTURE(
    ticket_keys_fixture, "a ticket is good in its epoch, renewed in the next, and gone after that")
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

    test_time += 600s;
    CHECK(keys.find(sealed.name).sealing_key == nullptr);
}

TEST_CASE("each new secret is different")
{
    auto const one = new_ticket_secret();
    CHECK(*one != *new_ticket_secret());
    CHECK(*one != ticket_secret{});
}

TEST_CASE_FIXTURE(ticket_keys_fixture, "two ticket_keys with one secret have the same keys")
{
    ticket_keys other{library, secret_of(1), 600s, test_clock};
    CHECK(other.current()->name == keys.current()->name);
    CHECK(other.current()->aes == keys.current()->aes);
    ticket_keys stranger{library, secret_of(2), 600s, test_clock};
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

TEST_CASE_FIXTURE(ticket_keys_fixture, "nothing secret is left in memory when the keys are dropped")
{
    alignas(ticket_keys) static unsigned char memory[sizeof(ticket_keys)];
    ticket_keys* const dropped = new (memory) ticket_keys{library, secret_of(7), 600s, test_clock};
    ticket_keys::key const known = *dropped->current();
    dropped->~ticket_keys();
    ticket_secret const secret = secret_of(7);
    CHECK(memmem(memory, sizeof memory, secret.data(), secret.size()) == nullptr);
    CHECK(memmem(memory, sizeof memory, known.aes.data(), known.aes.size()) == nullptr);
    CHECK(memmem(memory, sizeof memory, known.hmac.data(), known.hmac.size()) == nullptr);
}

} // namespace
} // namespace cleat::tls::ticket_keys_test
