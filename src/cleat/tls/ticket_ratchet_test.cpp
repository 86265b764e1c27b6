#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_ratchet.hpp>
#include <cleat/tls/ticket_secret.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace cleat::tls::ticket_ratchet_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using time_point = std::chrono::system_clock::time_point;

time_point test_time;

time_point test_clock()
{
    return test_time;
}

// Epochs of ten minutes, of which two before the present one are opened.
constexpr ticket_times ten_minutes{600s, 600s};
constexpr std::int64_t first_epoch = 2'800'000;

void go_to(std::int64_t epoch)
{
    test_time = time_point{seconds{600 * epoch}};
}

ticket_secret counted_bytes()
{
    ticket_secret made{};
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = std::byte(i);
    return made;
}

template <class Bytes>
std::string hex(Bytes const& bytes)
{
    std::string text;
    for (auto const each : bytes)
        for (unsigned const shift : {4U, 0U})
            text += "0123456789abcdef"[static_cast<unsigned>(each) >> shift & 0xfU];
    return text;
}

ticket_sources ratchets_of(std::initializer_list<ticket_ratchet> all)
{
    return {.ratchets = all};
}

// A host with the state of an epoch.
struct host
{
    explicit host(std::int64_t epoch, ticket_secret const& chain = counted_bytes())
        : keys{library, ratchets_of({ticket_ratchet{epoch, chain}}), ten_minutes, test_clock}
    {
    }

    ticket_keys::key sealed() { return *keys.current(); }
    bool opens(ticket_keys::key const& key) { return keys.find(key.name).sealing_key != nullptr; }

    backend::library_state library;
    ticket_keys keys;
};

TEST_CASE("chain keys are those of HKDF-SHA256, as Python's hmac computes them")
{
    ticket_ratchet state{7, counted_bytes()};
    REQUIRE(state.advance(8));
    CHECK(hex(state.chain()) == "9009c2a3b9098caa66d985282c30250116f22bfb07b56071f6e9efcc6da2d46d");
    REQUIRE(state.advance(10));
    CHECK(state.epoch() == 10);
    CHECK(hex(state.chain()) == "bcb0d9e795b93d3d98c5cd97adfe2a260cf2ca0feb105b786dbe5ff6f35a9620");
}

TEST_CASE("a ticket key is derived from its epoch's chain key")
{
    go_to(first_epoch + 3);
    ticket_keys::key const seals = host{first_epoch}.sealed();
    CHECK(
        hex(seals.name) + hex(seals.aes) + hex(seals.hmac) ==
        "99389df43a41016adb3ebb282b0a2d34578fd23a685376e74fe3cbd43861080c"
        "9f91bc61cbb6e0c4938fb976a3c0b10493e938bc5bec9f2e021b978231b2a9e2"
        "09c4c12dfa1d5a52975f1a8bd8e21363");
}

TEST_CASE("a ratchet does not go back, and no further at once than the limit")
{
    ticket_ratchet state{100, counted_bytes()};
    CHECK(state.advance(99));
    CHECK(state.advance(100));
    CHECK(state.chain() == counted_bytes());
    std::int64_t const furthest = 100 + limits::ticket_ratchet_steps_max;
    CHECK(state.can_advance(furthest));
    CHECK(!state.can_advance(furthest + 1));
    CHECK(!state.advance(furthest + 1));
    CHECK(state.epoch() == 100);
    CHECK(state.chain() == counted_bytes());
    CHECK(state.advance(furthest));
    CHECK(state.epoch() == furthest);
}

TEST_CASE("two states are the same where a later one follows from the earlier one")
{
    ticket_ratchet const early{5, counted_bytes()};
    ticket_ratchet late{early};
    late.advance(9);
    CHECK(early.is_same(late));
    CHECK(late.is_same(early));
    CHECK(early.epoch() == 5);
    CHECK(!late.is_same(ticket_ratchet{5, late.chain()}));
    CHECK(!early.is_same(ticket_ratchet{limits::ticket_ratchet_steps_max + 6, late.chain()}));
    CHECK(!new_ticket_ratchet(5)->is_same(*new_ticket_ratchet(5)));
}

TEST_CASE("a ticket opens until its lifetime ends, on a host an epoch ahead, and not after that")
{
    host one{first_epoch};
    go_to(first_epoch + 10);
    ticket_keys::key const sealed = one.sealed();
    for (std::int64_t const epochs : {1, 2}) {
        go_to(first_epoch + 10 + epochs);
        CHECK(one.opens(sealed));
        CHECK(one.sealed().name != sealed.name);
    }
    go_to(first_epoch + 13);
    CHECK(!one.opens(sealed));
    go_to(first_epoch + 10); // The key is gone for good.
    CHECK(!one.opens(sealed));
}

TEST_CASE("a new host opens what is sealed, whichever epoch its state is of")
{
    go_to(first_epoch + 10);
    host one{first_epoch};
    host other{first_epoch + 5, [] {
                   ticket_ratchet state{first_epoch, counted_bytes()};
                   state.advance(first_epoch + 5);
                   return state.chain();
               }()};
    CHECK(other.opens(one.sealed()));
    CHECK(one.opens(other.sealed()));
    CHECK(!host{first_epoch + 5}.opens(one.sealed())); // The same bytes at another epoch.
}

TEST_CASE("clocks may differ by an epoch")
{
    go_to(first_epoch + 10);
    host behind{first_epoch};
    ticket_keys::key const early = behind.sealed();
    go_to(first_epoch + 11);
    host ahead{first_epoch};
    ticket_keys::key const late = ahead.sealed();
    CHECK(ahead.opens(early));
    go_to(first_epoch + 10);
    CHECK(behind.opens(late));
    go_to(first_epoch + 12);
    ticket_keys::key const wrong = host{first_epoch}.sealed();
    go_to(first_epoch + 10);
    CHECK(!behind.opens(wrong));
}

TEST_CASE("a clock that goes back a little finds its keys")
{
    go_to(first_epoch + 10);
    host one{first_epoch};
    ticket_keys::key const before = one.sealed();
    go_to(first_epoch + 11);
    static_cast<void>(one.sealed());
    go_to(first_epoch + 10);
    CHECK(one.sealed().name == before.name);
}

TEST_CASE("before its oldest epoch a state seals, and opens, with that epoch's key")
{
    go_to(first_epoch + 10);
    host one{first_epoch};
    ticket_keys::key const oldest = [] {
        go_to(first_epoch + 8);
        return host{first_epoch}.sealed();
    }();
    go_to(first_epoch + 10);
    REQUIRE(one.opens(oldest));
    for (std::int64_t const epoch : {first_epoch + 7, first_epoch - 1000, std::int64_t{0}}) {
        go_to(epoch);
        CHECK(one.sealed().name == oldest.name);
        CHECK(one.opens(oldest));
        go_to(first_epoch + 7);
        ticket_keys::key const past = host{first_epoch}.sealed();
        go_to(epoch);
        client_ticket seen;
        ticket_watch const watch{seen};
        CHECK(!one.opens(past));
        CHECK(seen.use == ticket_use::unknown_key);
        CHECK(!one.opens(ticket_keys::key{}));
    }
}

TEST_CASE("a clock that is ahead beyond the limit is not followed")
{
    go_to(first_epoch + 10);
    host one{first_epoch};
    ticket_keys::key const sealed = one.sealed();
    go_to(first_epoch + 11 + limits::ticket_ratchet_steps_max);
    CHECK(one.sealed().name == sealed.name);
    CHECK(one.opens(sealed));
    go_to(first_epoch + 11);
    CHECK(one.sealed().name != sealed.name);
    CHECK(one.opens(sealed));
}

TEST_CASE("the first of two ratchets seals, and both open")
{
    ticket_secret other_chain = counted_bytes();
    other_chain[0] = std::byte{0xff};
    go_to(first_epoch + 10);
    host old{first_epoch};
    host added{first_epoch + 9, other_chain}; // Its state is of an epoch that the others need not.
    backend::library_state const library;
    ticket_keys both{
        library,
        ratchets_of(
            {ticket_ratchet{first_epoch + 9, other_chain},
             ticket_ratchet{first_epoch, counted_bytes()}}),
        ten_minutes, test_clock};
    CHECK(both.current()->name == added.sealed().name);
    CHECK(both.find(old.sealed().name).secret == 1);
    CHECK(both.find(old.sealed().name).renew);
    CHECK(both.find(added.sealed().name).secret == 0);
    CHECK(!both.find(added.sealed().name).renew);
}

bool has_bytes(void const* memory, std::size_t size, auto const& wanted)
{
    std::string_view const all{static_cast<char const*>(memory), size};
    std::string_view const bytes{reinterpret_cast<char const*>(wanted.data()), wanted.size()};
    return all.find(bytes) != std::string_view::npos;
}

TEST_CASE("nothing of a ratchet is left in memory where it was, moved on or dropped")
{
    alignas(ticket_ratchet) static unsigned char memory[sizeof(ticket_ratchet)];
    auto* const state = new (memory) ticket_ratchet{3, counted_bytes()};
    CHECK(has_bytes(memory, sizeof memory, counted_bytes()));
    state->advance(4);
    CHECK(!has_bytes(memory, sizeof memory, counted_bytes()));
    ticket_secret const present = state->chain();
    CHECK(has_bytes(memory, sizeof memory, present));
    state->~ticket_ratchet();
    CHECK(!has_bytes(memory, sizeof memory, present));
}

TEST_CASE("a key whose time is over is overwritten, without a handshake")
{
    go_to(first_epoch + 10);
    host one{first_epoch};
    ticket_keys::key const* const seals = one.keys.current();
    ticket_keys::key const known = *seals;
    constexpr std::size_t window = 4; // The next epoch's key, which is before this one's, to last.
    ticket_keys::key const* const all = seals - 1;
    for (std::int64_t const epochs : {1, 2}) {
        go_to(first_epoch + 10 + epochs);
        one.keys.drop_past();
        CHECK(has_bytes(all, window * sizeof *all, known.aes));
    }
    go_to(first_epoch + 13);
    one.keys.drop_past();
    CHECK(!has_bytes(all, window * sizeof *all, known.aes));
    CHECK(!has_bytes(all, window * sizeof *all, known.hmac));
}

TEST_CASE("the oldest epoch is that of a ticket that ends now, on a host an epoch behind")
{
    go_to(50);
    CHECK(oldest_ticket_epoch(600s, 600s, test_time) == 48);
    CHECK(oldest_ticket_epoch(600s, 601s, test_time) == 47);
    CHECK(oldest_ticket_epoch(600s, 600s, test_time + 599s) == 48);
    CHECK(
        oldest_ticket_epoch(600s, limits::ticket_epochs_max * 600s, test_time) ==
        50 - limits::ticket_epochs_max - 1);
}

} // namespace
} // namespace cleat::tls::ticket_ratchet_test
