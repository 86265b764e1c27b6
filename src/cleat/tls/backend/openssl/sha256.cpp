// The functions that OpenSSL 3 advises against: the new ones fetch the algorithm for each call, and
// take locks that all workers share.

#include <cleat/tls/backend.hpp>

#include <openssl/sha.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cleat::tls::backend {

void sha256(octets bytes, std::span<std::uint8_t, 32> digest) noexcept
{
    SHA256_CTX state;
    static_cast<void>(SHA256_Init(&state));
    static_cast<void>(SHA256_Update(&state, bytes.data(), bytes.size()));
    static_cast<void>(SHA256_Final(digest.data(), &state));
}

} // namespace cleat::tls::backend

#pragma GCC diagnostic pop
