#include "access/line_ring.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace cleat::app {

line_ring::line_ring(std::size_t size)
    : size_{size}, bytes_{std::make_unique_for_overwrite<char[]>(size)}
{
    CLEAT_ASSERT(std::has_single_bit(size));
}

void line_ring::push(std::string_view line) noexcept
{
    std::uint64_t const end = end_.load(std::memory_order_relaxed);
    if (line.size() > size_ - (end - begin_.load(std::memory_order_acquire))) {
        lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return;
    }
    std::size_t const place = end & (size_ - 1);
    std::size_t const first = std::min(line.size(), size_ - place);
    std::memcpy(bytes_.get() + place, line.data(), first);
    std::memcpy(bytes_.get(), line.data() + first, line.size() - first);
    // Sequentially consistent: the caller looks next whether the other thread sleeps, and that
    // thread says that it sleeps before it looks for lines.
    end_.store(end + line.size());
}

std::string_view line_ring::copy_lines(std::span<char> out) const noexcept
{
    std::uint64_t const begin = begin_.load(std::memory_order_relaxed);
    std::size_t const size = std::min<std::size_t>(end_.load() - begin, out.size());
    std::size_t const place = begin & (size_ - 1);
    std::size_t const first = std::min(size, size_ - place);
    std::memcpy(out.data(), bytes_.get() + place, first);
    std::memcpy(out.data() + first, bytes_.get(), size - first);
    std::string_view const copied{out.data(), size};
    return copied.substr(0, copied.rfind('\n') + 1); // All of it, unless `out` was full.
}

void line_ring::drop(std::size_t bytes) noexcept
{
    begin_.store(begin_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
}

} // namespace cleat::app
