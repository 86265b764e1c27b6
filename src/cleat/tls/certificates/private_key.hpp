// private_key: opens a private key that is under a passphrase.

#pragma once

#include <cleat/tls/secret_text.hpp>

#include <optional>
#include <string_view>

namespace cleat::tls {

/// has_encrypted_key: the first private key in the PEM text is under a passphrase. Throws
/// std::bad_alloc.
[[nodiscard]] bool has_encrypted_key(std::string_view pem);

/// decrypt_private_key is that key as PEM without a passphrase, or nothing where the passphrase is
/// wrong or the key is damaged. Throws std::bad_alloc. The text is secret: write it nowhere.
[[nodiscard]] std::optional<secret_text> decrypt_private_key(
    std::string_view pem, std::string_view passphrase);

} // namespace cleat::tls
