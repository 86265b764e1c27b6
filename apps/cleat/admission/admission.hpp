// admission: which clients a frontend lets in, and which peers may name another client in a PROXY
// header.

#pragma once

#include "admission/address_list.hpp"

#include <cleat/core/error.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace cleat::app {

/// admission has the lists of one frontend. Frontends with the same list share it. A null list:
/// there is no such rule. Any number of threads may use it.
struct admission
{
    std::shared_ptr<address_list const> proxies; ///< Peers that send a PROXY header.
    std::shared_ptr<address_list const> allowed; ///< Only these clients.
    std::shared_ptr<address_list const> denied;  ///< None of these clients, even if allowed.

    /// is_empty is true without any rule.
    [[nodiscard]] bool is_empty() const noexcept { return !proxies && !allowed && !denied; }

    /// check_peer is error::untrusted_proxy where a list names the peers that send a PROXY header,
    /// and this peer is not in it. The address has 4 or 16 bytes.
    [[nodiscard]] error_code check_peer(std::span<std::uint8_t const> address) const noexcept
    {
        bool const is_refused = proxies && !proxies->contains(address);
        return is_refused ? make_error_code(error::untrusted_proxy) : error_code{};
    }

    /// check_client is error::address_denied or error::address_not_allowed for a client that is not
    /// let in. A client at a UNIX socket has no bytes: no list has it.
    [[nodiscard]] error_code check_client(std::span<std::uint8_t const> address) const noexcept
    {
        if (denied && denied->contains(address))
            return error::address_denied;
        if (allowed && !allowed->contains(address))
            return error::address_not_allowed;
        return {};
    }
};

} // namespace cleat::app
