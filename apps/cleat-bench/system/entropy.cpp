#include "system/entropy.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <cerrno>

#include <sys/random.h>
#include <sys/types.h>

namespace cleat::bench {

void entropy::fill(std::span<std::byte> bytes) noexcept
{
    if (block_size - used_ < bytes.size()) {
        for (std::size_t filled = 0; filled != block_size;) {
            ssize_t const got = ::getrandom(block_.data() + filled, block_size - filled, 0);
            CLEAT_ASSERT(got > 0 || errno == EINTR); // Its generator is seeded, and has no end.
            filled += got > 0 ? static_cast<std::size_t>(got) : 0;
        }
        used_ = 0;
    }
    auto const from = block_.begin() + static_cast<std::ptrdiff_t>(used_);
    std::copy_n(from, bytes.size(), bytes.begin());
    used_ += bytes.size();
}

} // namespace cleat::bench
