#include "input_reader.hpp"
#include "targets.hpp"
#include "tickets/ratchet_text.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleat::fuzz {
namespace {

constexpr std::chrono::seconds rotation{900};

// States far apart take a while to compare, and each is compared with all before it.
constexpr std::ptrdiff_t states_max = 2;

void check_line(tls::ticket_ratchet const& state)
{
    app::ratchet_list const again =
        app::read_ticket_ratchets(app::ratchet_text(state, rotation).view(), rotation);
    CLEAT_ASSERT(again.faults.empty() && again.ratchets.size() == 1);
    CLEAT_ASSERT(again.ratchets.front()->epoch() == state.epoch());
    CLEAT_ASSERT(tls::is_same_secret(again.ratchets.front()->chain(), state.chain()));
}

// All lines but those of ratchets.
std::string rest_of(std::string_view text)
{
    std::string rest;
    while (!text.empty()) {
        std::string_view const line =
            text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        if (!app::is_ratchet_line(app::stripped_line(line)))
            rest += line;
        text.remove_prefix(line.size());
    }
    return rest;
}

void check_advanced(
    std::string_view before, app::ratchet_list const& states, std::string_view after,
    std::int64_t epoch)
{
    CLEAT_ASSERT(rest_of(before) == rest_of(after));
    CLEAT_ASSERT(!app::advance_ratchets(after, rotation, epoch).text);
    // Two states with one chain key and different numbers are a fault, which is not seen any more
    // when they have moved on.
    if (!states.faults.empty())
        return;
    app::ratchet_list const moved = app::read_ticket_ratchets(after, rotation);
    CLEAT_ASSERT(moved.faults.empty() && moved.lines == states.lines);
    for (std::size_t i = 0; i < moved.ratchets.size(); ++i) {
        tls::ticket_ratchet const& old = *states.ratchets[i];
        CLEAT_ASSERT(moved.ratchets[i]->is_same(old));
        bool const is_left = old.epoch() >= epoch || !old.can_advance(epoch);
        CLEAT_ASSERT(moved.ratchets[i]->epoch() == (is_left ? old.epoch() : epoch));
    }
}

} // namespace

// The input is an epoch, and a file of ratchets, which is moved on to it.
void ratchet_file(octets input)
{
    input_reader reader{input};
    auto const epoch = static_cast<std::int64_t>(reader.number(2));
    std::string_view const text = text_of(reader.rest());
    std::ptrdiff_t states_seen = 0;
    for (std::size_t i = text.find(app::ratchet_word); i != std::string_view::npos;
         i = text.find(app::ratchet_word, i + 1))
        ++states_seen;
    if (states_seen > states_max)
        return;
    app::ratchet_list const states = app::read_ticket_ratchets(text, rotation);
    CLEAT_ASSERT(states.lines.size() == states.ratchets.size());
    CLEAT_ASSERT(!states.ratchets.empty() || !states.faults.empty());
    for (app::secret_fault const& each : states.faults)
        CLEAT_ASSERT(each.line != 0 && !each.text.empty());
    for (auto const& each : states.ratchets)
        check_line(*each);
    app::advanced_ratchets const made = app::advance_ratchets(text, rotation, epoch);
    if (made.text)
        check_advanced(text, states, made.text->view(), epoch);
}

} // namespace cleat::fuzz
