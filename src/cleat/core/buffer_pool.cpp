#include <cleat/core/assert.hpp>
#include <cleat/core/buffer_pool.hpp>

#include <new>

namespace cleat {

buffer_pool::buffer_pool(std::size_t block_size, std::size_t kept_max) noexcept
    : block_size_{block_size}, kept_max_{kept_max}
{
    CLEAT_ASSERT(block_size >= sizeof(free_block));
}

buffer_pool::~buffer_pool()
{
    CLEAT_ASSERT(lent_ == 0);
    trim();
}

buffer_pool::block buffer_pool::borrow() noexcept
{
    std::byte* data = nullptr;
    if (free_ != nullptr) {
        free_block* const first = free_;
        free_ = first->next;
        --kept_;
        data = reinterpret_cast<std::byte*>(first);
    } else {
        data = static_cast<std::byte*>(::operator new(block_size_, std::nothrow));
        if (data == nullptr)
            return {};
    }
    ++lent_;
    return block{*this, data};
}

void buffer_pool::give_back(std::byte* data) noexcept
{
    CLEAT_ASSERT(lent_ > 0);
    --lent_;
    if (kept_ == kept_max_) {
        ::operator delete(data);
        return;
    }
    // Last in, first out: the block that is lent next is the one that is still in the cache.
    free_ = ::new (data) free_block{.next = free_};
    ++kept_;
}

void buffer_pool::trim() noexcept
{
    while (free_ != nullptr)
        ::operator delete(std::exchange(free_, free_->next));
    kept_ = 0;
}

} // namespace cleat
