#include <cleat/tls/backend/bssl/derivation.hpp>

#include <openssl/mem.h>

#include <array>
#include <cstddef>

namespace cleat::tls::backend {

// BoringSSL leaves there the extracted key, a padded one, and the last block of the result. The
// frames of HKDF and of what it calls began where this one begins, and are smaller.
[[gnu::noinline, gnu::no_sanitize_address]] void wipe_derivation_frames() noexcept
{
    std::array<std::byte, 8192> frame; // NOLINT: it is to be what was there.
    OPENSSL_cleanse(frame.data(), frame.size());
}

} // namespace cleat::tls::backend
