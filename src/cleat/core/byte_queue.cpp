#include <cleat/core/assert.hpp>
#include <cleat/core/byte_queue.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace cleat {

void byte_queue::free_block::operator()(block* b) const noexcept
{
    ::operator delete(b);
}

byte_queue::block_ptr byte_queue::make_block(std::size_t capacity) noexcept
{
    if (capacity > std::numeric_limits<std::size_t>::max() - sizeof(block))
        return nullptr;
    void* const memory = ::operator new(sizeof(block) + capacity, std::nothrow);
    if (memory == nullptr)
        return nullptr;
    return block_ptr{::new (memory) block{.capacity = capacity, .begin = 0, .end = 0}};
}

std::size_t byte_queue::size() const noexcept
{
    return block_ ? block_->end - block_->begin : 0;
}

std::span<std::byte const> byte_queue::front() const noexcept
{
    if (!block_)
        return {};
    return {block_->data() + block_->begin, size()};
}

bool byte_queue::append(std::span<std::byte const> bytes, std::size_t size_max) noexcept
{
    std::size_t const held = size();
    if (held > size_max || bytes.size() > size_max - held)
        return false;
    if (bytes.empty())
        return true;

    std::size_t const needed = held + bytes.size();
    if (!block_ || needed > block_->capacity) {
        // Doubling makes many small appends linear in time. The bound limits it.
        std::size_t const doubled = held > size_max / 2 ? size_max : held * 2;
        block_ptr larger = make_block(std::max(needed, doubled));
        if (!larger)
            return false;
        if (held != 0)
            std::memcpy(larger->data(), front().data(), held);
        larger->end = held;
        block_ = std::move(larger);
    } else if (bytes.size() > block_->capacity - block_->end) {
        std::memmove(block_->data(), front().data(), held);
        block_->begin = 0;
        block_->end = held;
    }
    std::memcpy(block_->data() + block_->end, bytes.data(), bytes.size());
    block_->end += bytes.size();
    return true;
}

void byte_queue::consume(std::size_t n) noexcept
{
    CLEAT_ASSERT(n <= size());
    if (n == size())
        clear();
    else
        block_->begin += n;
}

} // namespace cleat
