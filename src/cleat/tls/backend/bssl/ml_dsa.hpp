// ml_dsa: keys that a part of the BoringSSL family can read.

#pragma once

#include <cleat/tls/certificates/key_type.hpp>

#include <openssl/base.h>

#include <optional>

namespace cleat::tls::bssl {

/// ml_dsa_type is nothing for another key.
[[nodiscard]] std::optional<key_type> ml_dsa_type(EVP_PKEY const* key) noexcept;

} // namespace cleat::tls::bssl
