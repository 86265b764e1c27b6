#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace cleat::tls {
namespace {

// Part of every derivation: the same secret gives other keys for another purpose.
constexpr std::string_view purpose = "cleat session ticket key 1";

// Places among the keys of a secret.
constexpr std::size_t next_epoch = 0;
constexpr std::size_t this_epoch = 1;

} // namespace

std::size_t earlier_epochs(ticket_times const& times) noexcept
{
    CLEAT_ASSERT(times.rotation >= std::chrono::seconds{1});
    CLEAT_ASSERT(times.lifetime >= std::chrono::seconds{1});
    return static_cast<std::size_t>((times.lifetime - std::chrono::seconds{1}) / times.rotation) +
           2;
}

ticket_times ticket_times_of(context_spec const& spec) noexcept
{
    std::chrono::seconds const lifetime = spec.ticket_lifetime.value_or(spec.ticket_rotation);
    return {spec.ticket_rotation, std::min(lifetime, limits::ticket_lifetime_max)};
}

bool has_tickets(context_spec const& spec) noexcept
{
    return spec.tickets != nullptr || !spec.ticket_ratchets.empty();
}

ticket_sources ticket_sources_of(context_spec const& spec)
{
    ticket_sources all;
    if (spec.tickets != nullptr) {
        all.secrets.push_back(spec.tickets);
        all.secrets.insert(
            all.secrets.end(), spec.accepted_tickets.begin(), spec.accepted_tickets.end());
        return all;
    }
    all.ratchets.reserve(spec.ticket_ratchets.size());
    for (std::shared_ptr<ticket_ratchet const> const& each : spec.ticket_ratchets)
        all.ratchets.push_back(*each);
    return all;
}

ticket_keys::ticket_keys(
    backend::library_state const& library, ticket_sources sources, ticket_times const& times,
    clock now)
    : library_{library}
    , sources_{std::move(sources)}
    , rotation_{times.rotation}
    , now_{now}
    , epochs_{this_epoch + 1 + earlier_epochs(times)}
    , keys_(sources_.size() * epochs_)
{
    CLEAT_ASSERT(sources_.secrets.empty() != sources_.ratchets.empty());
}

ticket_keys::~ticket_keys()
{
    wipe();
}

void ticket_keys::wipe() noexcept
{
    OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(key));
    clock_epoch_ = epoch_ = INT64_MIN;
}

ticket_keys::key const* ticket_keys::current() noexcept
{
    if (!refresh())
        return nullptr;
    client_ticket const* const offered = noted_ticket();
    bool const is_next = offered != nullptr && offered->made_by > last_second(epoch_);
    return &keys_[is_next ? next_epoch : this_epoch];
}

ticket_keys::opened ticket_keys::find(std::span<std::uint8_t const, 16> name) noexcept
{
    // Names are sent in the clear: the comparison need not be constant in time.
    if (!refresh())
        return {};
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (!std::ranges::equal(name, keys_[i].name))
            continue;
        std::size_t const secret = i / epochs_;
        std::size_t const place = i % epochs_;
        // Before a ratchet's epoch this host's clock is the only one that its tickets are of.
        bool const is_over = place > this_epoch || clock_epoch_ < epoch_;
        std::int64_t const made_by =
            is_over ? 0 : last_second(place == next_epoch ? epoch_ + 1 : epoch_);
        note_ticket(
            {ticket_use::opened, static_cast<std::uint8_t>(secret),
             static_cast<std::uint32_t>(made_by)});
        return {&keys_[i], i > this_epoch, secret};
    }
    note_ticket({ticket_use::unknown_key});
    return {};
}

std::int64_t ticket_keys::last_second(std::int64_t epoch) const noexcept
{
    return (epoch + 1) * rotation_.count() - 1;
}

bool ticket_keys::refresh() noexcept
{
    std::int64_t const epoch = ticket_epoch(rotation_, now_());
    if (epoch == clock_epoch_)
        return true;
    return sources_.ratchets.empty() ? follow(epoch) : follow_ratchets(epoch);
}

bool ticket_keys::follow(std::int64_t epoch) noexcept
{
    clock_epoch_ = epoch_ = INT64_MIN;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        std::int64_t const latest = epoch + static_cast<std::int64_t>(this_epoch);
        auto const earlier = static_cast<std::int64_t>(i % epochs_);
        if (!derive(*sources_.secrets[i / epochs_], latest - earlier, keys_[i]))
            return false;
    }
    clock_epoch_ = epoch_ = epoch;
    return true;
}

bool ticket_keys::follow_ratchets(std::int64_t epoch) noexcept
{
    std::int64_t present = epoch;
    for (ticket_ratchet const& each : sources_.ratchets)
        present = std::max(present, each.epoch());
    auto const earlier = static_cast<std::int64_t>(epochs_ - this_epoch - 1);
    auto const can_follow = [&](ticket_ratchet const& each) {
        return each.can_advance(present - earlier);
    };
    if (!std::ranges::all_of(sources_.ratchets, can_follow))
        return epoch_ != INT64_MIN; // The keys that it has go on.
    clock_epoch_ = epoch_ = INT64_MIN;
    for (std::size_t i = 0; i < sources_.ratchets.size(); ++i)
        if (!sources_.ratchets[i].advance(library_, present - earlier) ||
            !derive_window(i, present))
            return false;
    clock_epoch_ = epoch;
    epoch_ = present;
    return true;
}

// Epochs that the ratchet does not have any more get the key of the oldest that it has, which is
// found at its own place first.
bool ticket_keys::derive_window(std::size_t source, std::int64_t present) noexcept
{
    ticket_ratchet walker{sources_.ratchets[source]};
    key* const keys = &keys_[source * epochs_];
    std::int64_t const next = present + 1;
    for (auto place = static_cast<std::size_t>(next - walker.epoch()) + 1; place-- > 0;) {
        std::span<key> const derived{&keys[place], 1};
        if (!walker.derive_key(library_, std::as_writable_bytes(derived)) ||
            !walker.advance(library_, walker.epoch() + 1))
            return false;
    }
    auto const oldest = static_cast<std::size_t>(next - sources_.ratchets[source].epoch());
    std::fill(keys + oldest + 1, keys + epochs_, keys[oldest]);
    return true;
}

bool has_ticket_key(context const& server, std::span<std::uint8_t const> ticket) noexcept
{
    constexpr std::size_t name_size = std::tuple_size_v<decltype(ticket_keys::key::name)>;
    ticket_keys* const keys = backend::ticket_keys_of(server.native_handle());
    return keys != nullptr && ticket.size() > name_size &&
           keys->find(ticket.first<name_size>()).sealing_key != nullptr;
}

bool ticket_keys::derive(
    ticket_secret const& secret, std::int64_t epoch, key& derived) const noexcept
{
    std::array<std::byte, purpose.size() + sizeof epoch> info{};
    std::ranges::transform(purpose, info.begin(), [](char c) { return std::byte(c); });
    for (std::size_t i = 0; i < sizeof epoch; ++i)
        info[purpose.size() + i] = std::byte(static_cast<std::uint64_t>(epoch) >> (56 - 8 * i));

    static_assert(sizeof(key) == 16 + 32 + 32, "a key has no padding");
    return library_.derive(secret, info, std::as_writable_bytes(std::span{&derived, 1}));
}

} // namespace cleat::tls
