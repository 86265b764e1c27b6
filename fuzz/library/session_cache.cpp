#include "targets.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/session_cache.hpp>

#include <cstddef>
#include <vector>

namespace cleat::fuzz {

// The input is a file that session_cache::save has written.
void session_cache(octets input)
{
    tls::session_cache loaded{4};
    if (loaded.load(std::as_bytes(input))) {
        CLEAT_ASSERT(loaded.size() == 0);
        return;
    }
    std::vector<std::byte> const saved = loaded.save();
    tls::session_cache again{4};
    CLEAT_ASSERT(!again.load(saved));
    CLEAT_ASSERT(again.save() == saved);
}

} // namespace cleat::fuzz
