// keys: the keys of certificates as people read them.

#pragma once

#include <string>

namespace cleat::bench {

/// sized_key is the key's name with its bits, where they are not in the name: "RSA-2048",
/// "Ed25519".
[[nodiscard]] std::string sized_key(std::string const& key, unsigned bits);

} // namespace cleat::bench
