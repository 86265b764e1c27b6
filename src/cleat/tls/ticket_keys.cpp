#include <cleat/core/assert.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cleat::tls {
namespace {

// Part of every derivation: the same secret gives other keys for another purpose.
constexpr std::string_view purpose = "cleat session ticket key 1";

} // namespace

ticket_keys::ticket_keys(
    backend::library_state const& library, ticket_secret const& secret,
    std::chrono::seconds rotation, clock now)
    : library_{library}, secret_{secret}, rotation_{rotation}, now_{now}
{
    CLEAT_ASSERT(rotation_ >= std::chrono::seconds{1});
}

ticket_keys::~ticket_keys()
{
    OPENSSL_cleanse(secret_.data(), secret_.size());
    OPENSSL_cleanse(&current_, sizeof current_);
    OPENSSL_cleanse(&previous_, sizeof previous_);
}

ticket_keys::key const* ticket_keys::current() noexcept
{
    return refresh() ? &current_ : nullptr;
}

ticket_keys::opened ticket_keys::find(std::span<std::uint8_t const, 16> name) noexcept
{
    // Names are sent in the clear: the comparison need not be constant in time.
    if (!refresh())
        return {};
    if (std::ranges::equal(name, current_.name))
        return {&current_, false};
    if (std::ranges::equal(name, previous_.name))
        return {&previous_, true};
    return {};
}

bool ticket_keys::refresh() noexcept
{
    std::chrono::seconds const since =
        std::chrono::floor<std::chrono::seconds>(now_().time_since_epoch());
    std::int64_t const epoch = since / rotation_;
    if (epoch == epoch_)
        return true;
    epoch_ = INT64_MIN;
    if (!derive(epoch - 1, previous_) || !derive(epoch, current_))
        return false;
    epoch_ = epoch;
    return true;
}

bool ticket_keys::derive(std::int64_t epoch, key& derived) const noexcept
{
    std::array<std::byte, purpose.size() + sizeof epoch> info{};
    std::ranges::transform(purpose, info.begin(), [](char c) { return std::byte(c); });
    for (std::size_t i = 0; i < sizeof epoch; ++i)
        info[purpose.size() + i] = std::byte(static_cast<std::uint64_t>(epoch) >> (56 - 8 * i));

    static_assert(sizeof(key) == 16 + 32 + 32, "a key has no padding");
    return library_.derive(secret_, info, std::as_writable_bytes(std::span{&derived, 1}));
}

} // namespace cleat::tls
