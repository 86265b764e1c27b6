#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/fingerprint/ja4.hpp>

#include <algorithm>

namespace cleat::fuzz {

// The input is a ClientHello without the message's header.
void ja4(octets input)
{
    tls::ja4_fingerprint const made = tls::ja4_of(input);
    CLEAT_ASSERT(made.size == 0 || made.size == tls::ja4_fingerprint::size_max);
    // It goes into logs and headers as it is.
    CLEAT_ASSERT(std::ranges::all_of(made.text(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_';
    }));
}

} // namespace cleat::fuzz
