#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/derivation.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/digest.h>
#include <openssl/hkdf.h>

#include <cstdint>

namespace cleat::tls::backend {

bool library_state::derive(
    std::span<std::byte const> secret, std::span<std::byte const> info,
    std::span<std::byte> out) const noexcept
{
    bool const done =
        HKDF(
            reinterpret_cast<std::uint8_t*>(out.data()), out.size(), EVP_sha256(),
            reinterpret_cast<std::uint8_t const*>(secret.data()), secret.size(), nullptr, 0,
            reinterpret_cast<std::uint8_t const*>(info.data()), info.size()) == 1;
    wipe_derivation_frames();
    if (!done)
        clear_errors();
    return done;
}

} // namespace cleat::tls::backend
