#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_ratchet.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <openssl/crypto.h>

#include <algorithm>
#include <exception>
#include <string_view>

namespace cleat::tls {
namespace {

constexpr std::string_view info_of_next_epoch = "cleat ticket ratchet 1: next epoch";
constexpr std::string_view info_of_ticket_key = "cleat ticket ratchet 1: ticket key";

} // namespace

ticket_ratchet::ticket_ratchet(std::int64_t epoch, ticket_secret const& chain) noexcept
    : epoch_{epoch}, chain_{chain}
{
}

ticket_ratchet::~ticket_ratchet()
{
    OPENSSL_cleanse(chain_.data(), chain_.size());
}

bool ticket_ratchet::can_advance(std::int64_t epoch) const noexcept
{
    return epoch - epoch_ <= limits::ticket_ratchet_steps_max;
}

bool ticket_ratchet::advance(std::int64_t epoch) noexcept
{
    if (epoch <= epoch_)
        return true;
    try {
        backend::library_state const library;
        bool const done = advance(library, epoch);
        library.leave_thread();
        return done;
    } catch (std::exception const&) { // The library has no memory for a state.
        return false;
    }
}

bool ticket_ratchet::advance(backend::library_state const& library, std::int64_t epoch) noexcept
{
    if (!can_advance(epoch))
        return false;
    ticket_secret next{};
    bool done = true;
    while (done && epoch_ < epoch) {
        done = library.derive(chain_, std::as_bytes(std::span{info_of_next_epoch}), next);
        if (done) {
            std::ranges::copy(next, chain_.begin()); // In place: nothing else has the old one.
            ++epoch_;
        }
    }
    OPENSSL_cleanse(next.data(), next.size());
    return done;
}

bool ticket_ratchet::is_same(ticket_ratchet const& other) const noexcept
{
    std::int64_t const later = std::max(epoch_, other.epoch_);
    ticket_ratchet one{*this};
    ticket_ratchet two{other};
    return one.can_advance(later) && two.can_advance(later) && one.advance(later) &&
           two.advance(later) && is_same_secret(one.chain_, two.chain_);
}

bool ticket_ratchet::derive_key(
    backend::library_state const& library, std::span<std::byte> key) const noexcept
{
    return library.derive(chain_, std::as_bytes(std::span{info_of_ticket_key}), key);
}

std::shared_ptr<ticket_ratchet> new_ticket_ratchet(std::int64_t epoch)
{
    return std::make_shared<ticket_ratchet>(epoch, *new_ticket_secret());
}

std::int64_t ticket_epoch(
    std::chrono::seconds rotation, std::chrono::system_clock::time_point now) noexcept
{
    return std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) / rotation;
}

std::int64_t oldest_ticket_epoch(
    std::chrono::seconds rotation, std::chrono::seconds lifetime,
    std::chrono::system_clock::time_point now) noexcept
{
    return ticket_epoch(rotation, now) -
           static_cast<std::int64_t>(earlier_epochs({rotation, lifetime}));
}

} // namespace cleat::tls
