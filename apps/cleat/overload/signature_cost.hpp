// signature_cost: what the server's signature in a full handshake costs.

#pragma once

#include <cleat/tls/context.hpp>
#include <cleat/tls/hello/client_hello_reader.hpp>

#include <cstddef>
#include <cstdint>

namespace cleat::app {

/// signature_cost is by the type of the server's key.
enum class signature_cost : std::uint8_t
{
    low,  ///< ECDSA, Ed25519 and ML-DSA.
    high, ///< RSA: some twenty times as much.
};
inline constexpr std::size_t signature_cost_count = 2;

/// cost_of the full handshake that answers this ClientHello. It is a search among names, and among
/// the numbers that the client sends where a name has several certificates: no cryptography, and no
/// allocation.
[[nodiscard]] signature_cost cost_of(
    tls::hello_facts const& hello, tls::context const& server) noexcept;

} // namespace cleat::app
