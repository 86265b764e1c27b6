#include "text/keys.hpp"

#include <fmt/format.h>

namespace cleat::bench {

std::string sized_key(std::string const& key, unsigned bits)
{
    bool const has_size = key == "Ed25519" || key.starts_with("ML-DSA-");
    return has_size ? key : fmt::format("{}-{}", key, bits);
}

} // namespace cleat::bench
