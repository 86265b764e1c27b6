#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

// Part of every derivation: the same secret gives other keys for another purpose.
constexpr std::string_view purpose = "cleat session ticket key 1";

// Places among the keys of a secret.
constexpr std::size_t next_epoch = 0;
constexpr std::size_t this_epoch = 1;

// Those in which a ticket that still lives can have been sealed, by a host whose clock is an epoch
// behind this one's.
std::size_t earlier_epochs(ticket_times const& times)
{
    CLEAT_ASSERT(times.rotation >= std::chrono::seconds{1});
    CLEAT_ASSERT(times.lifetime >= std::chrono::seconds{1});
    return static_cast<std::size_t>((times.lifetime - std::chrono::seconds{1}) / times.rotation) +
           2;
}

} // namespace

ticket_times ticket_times_of(context_spec const& spec) noexcept
{
    std::chrono::seconds const lifetime = spec.ticket_lifetime.value_or(spec.ticket_rotation);
    return {spec.ticket_rotation, std::min(lifetime, limits::ticket_lifetime_max)};
}

std::vector<std::shared_ptr<ticket_secret const>> ticket_secrets_of(context_spec const& spec)
{
    std::vector<std::shared_ptr<ticket_secret const>> all{spec.tickets};
    all.insert(all.end(), spec.accepted_tickets.begin(), spec.accepted_tickets.end());
    return all;
}

ticket_keys::ticket_keys(
    backend::library_state const& library,
    std::vector<std::shared_ptr<ticket_secret const>> secrets, ticket_times const& times, clock now)
    : library_{library}
    , secrets_{std::move(secrets)}
    , rotation_{times.rotation}
    , now_{now}
    , epochs_{this_epoch + 1 + earlier_epochs(times)}
    , keys_(secrets_.size() * epochs_)
{
    CLEAT_ASSERT(!secrets_.empty());
}

ticket_keys::~ticket_keys()
{
    wipe();
}

void ticket_keys::wipe() noexcept
{
    OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(key));
    epoch_ = INT64_MIN;
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
        std::int64_t const made_by =
            place > this_epoch ? 0 : last_second(place == next_epoch ? epoch_ + 1 : epoch_);
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
    std::chrono::seconds const since =
        std::chrono::floor<std::chrono::seconds>(now_().time_since_epoch());
    std::int64_t const epoch = since / rotation_;
    if (epoch == epoch_)
        return true;
    epoch_ = INT64_MIN;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
        std::int64_t const latest = epoch + static_cast<std::int64_t>(this_epoch);
        auto const earlier = static_cast<std::int64_t>(i % epochs_);
        if (!derive(*secrets_[i / epochs_], latest - earlier, keys_[i]))
            return false;
    }
    epoch_ = epoch;
    return true;
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
