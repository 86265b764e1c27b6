#include <cleat/tls/backend.hpp>

#include <openssl/sha.h>

namespace cleat::tls::backend {

void sha256(octets bytes, std::span<std::uint8_t, 32> digest) noexcept
{
    SHA256(bytes.data(), bytes.size(), digest.data());
}

} // namespace cleat::tls::backend
