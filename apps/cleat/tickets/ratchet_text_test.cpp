#include "tickets/ratchet_text.hpp"
#include "tickets/secret_text.hpp"

#include <cleat/core/limits.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cleat::app::ratchet_text_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
// Computed by Python's hmac: HKDF of the bytes above, once.
constexpr std::string_view next =
    "9009c2a3b9098caa66d985282c30250116f22bfb07b56071f6e9efcc6da2d46d";

std::string one_fault(std::string_view text)
{
    ratchet_list const list = read_ticket_ratchets(text, 600s);
    REQUIRE(list.faults.size() == 1);
    CHECK(!list.faults[0].cure.empty());
    return fmt::format("{}: {}", list.faults[0].line, list.faults[0].text);
}

TEST_CASE("a line has an epoch and a chain key")
{
    for (std::string const& text :
         {fmt::format("ratchet 600 40 {}", hex), fmt::format("ratchet 600 40 {}\n", hex),
          fmt::format("# of November\r\n\n \tratchet\t600  40 {} \r\n", hex)}) {
        ratchet_list const list = read_ticket_ratchets(text, 600s);
        CHECK(list.faults.empty());
        REQUIRE(list.ratchets.size() == 1);
        CHECK(list.ratchets[0]->epoch() == 40);
        for (std::size_t i = 0; i < 32; ++i)
            CHECK(std::to_integer<std::size_t>(list.ratchets[0]->chain()[i]) == i);
        CHECK(
            ratchet_text(*list.ratchets[0], 600s).view() ==
            fmt::format("ratchet 600 40 {}\n", hex));
    }
}

TEST_CASE("a mistake has its line")
{
    CHECK(one_fault("# none\n") == "1: there is no state of a ratchet in the file");
    CHECK(
        one_fault(fmt::format("\nratchet 601 40 {}", hex)) ==
        "2: this state is for epochs of 601 seconds, and ticket-epoch is 600");
    CHECK(
        one_fault(fmt::format("ratchet 600 40 {}\nratchet 600 41 {}", hex, hex)) ==
        "2: this is the state of line 1 again");
    CHECK(
        one_fault(fmt::format("ratchet 600 41 {}\nratchet 600 40 {}", next, hex)) ==
        "2: this is the state of line 1 again");
    CHECK(one_fault(hex) == "1: this secret has no epoch, which ticket-ratchet needs");
    CHECK(one_fault("hello") == "1: this is not the state of a ratchet");
    for (std::string const& text :
         {fmt::format("ratchet 600 {}", hex), fmt::format("ratchet 600 -1 {}", hex),
          fmt::format("ratchet 600 40 {} x", hex), fmt::format("ratchet 600 40 {}0", hex),
          fmt::format("ratchet 600 99999999999999999999 {}", hex),
          fmt::format("ratchet 600 99999999999 {}", hex), std::string{"ratchet"}})
        CHECK(one_fault(text).starts_with("1: the state of a ratchet is the word ratchet, "));
}

TEST_CASE("a state of a ratchet is no secret")
{
    secret_list const list = read_ticket_secrets(fmt::format("ratchet 600 40 {}", hex));
    REQUIRE(list.faults.size() == 1);
    CHECK(list.faults[0].text == "this is the state of a ratchet, which is not a secret");
}

TEST_CASE("there are at most eight states")
{
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += fmt::format("ratchet 600 40 {:064x}\n", i);
    CHECK(read_ticket_ratchets(text, 600s).faults.empty());
    CHECK(
        one_fault(text + fmt::format("ratchet 600 40 {:064x}\n", 8)) ==
        "9: there are more than 8 states");
}

TEST_CASE("states move on, and all else stays")
{
    std::string const text = fmt::format(
        "# of November\r\n\nratchet 600 40 {0}\n{0}\nratchet 60 40 {0}\nratchet 600 41 {0}", hex);
    advanced_ratchets const moved = advance_ratchets(text, 600s, 41);
    REQUIRE(moved.text);
    CHECK(
        moved.text->view() ==
        fmt::format(
            "# of November\r\n\nratchet 600 41 {1}\n{0}\nratchet 60 40 {0}\nratchet 600 41 {0}",
            hex, next));
    CHECK(!moved.fault);
    for (auto const& [before, epoch] :
         {std::pair{moved.text->view(), 41}, {moved.text->view(), 30}, {"", 41}}) {
        advanced_ratchets const same = advance_ratchets(before, 600s, epoch);
        CHECK(!same.text);
        CHECK(!same.fault);
    }
}

TEST_CASE("a state that is too far behind stays, which is a fault, and the others move on")
{
    std::int64_t const far = 41 + limits::ticket_ratchet_steps_max;
    std::string const old = fmt::format("ratchet 600 40 {}\n", hex);
    advanced_ratchets const alone = advance_ratchets(old, 600s, far);
    CHECK(!alone.text);
    REQUIRE(alone.fault);
    CHECK(alone.fault->line == 1);
    CHECK(
        alone.fault->text ==
        "this state is 100001 epochs old, more than the 100000 that a ratchet moves on");
    CHECK(!alone.fault->cure.empty());
    std::string const late = fmt::format("ratchet 600 {} {}\n", far - 1, hex);
    advanced_ratchets const both = advance_ratchets(late + old + old, 600s, far);
    REQUIRE(both.text);
    CHECK(both.text->view() == fmt::format("ratchet 600 {} {}\n{}{}", far, next, old, old));
    REQUIRE(both.fault);
    CHECK(both.fault->line == 2);
}

} // namespace
} // namespace cleat::app::ratchet_text_test
