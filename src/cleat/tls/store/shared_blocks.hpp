// shared_blocks: an array of blocks that its copies share. Not a public header.

#pragma once

#include <cleat/core/assert.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::tls {

/// shared_blocks makes a copy with few changes cheap: a copy costs a pointer for each block, and a
/// change in it the copy of one block.
///
/// One thread changes an array. Once it is sealed it can be copied, and any thread can read it: a
/// sealed block never changes.
template <class Block>
class shared_blocks
{
public:
    shared_blocks() = default;
    shared_blocks(shared_blocks const& other) : blocks_{other.blocks_}, own_(blocks_.size())
    {
        CLEAT_ASSERT(other.is_sealed());
    }
    shared_blocks& operator=(shared_blocks&&) noexcept = default;
    shared_blocks(shared_blocks&&) noexcept = default;
    ~shared_blocks() = default;

    [[nodiscard]] std::size_t size() const noexcept { return blocks_.size(); }
    [[nodiscard]] Block const& operator[](std::size_t place) const noexcept
    {
        return *blocks_[place];
    }

    /// edit is a block to change, which no other array sees. Not once it is sealed.
    [[nodiscard]] Block& edit(std::size_t place)
    {
        CLEAT_ASSERT(own_.size() == blocks_.size());
        if (own_[place] == nullptr)
            keep(place, std::make_shared<Block>(*blocks_[place]));
        return *own_[place];
    }

    Block& append()
    {
        blocks_.emplace_back();
        own_.emplace_back();
        keep(blocks_.size() - 1, std::make_shared<Block>());
        return *own_.back();
    }

    /// seal ends the changes. `finish` is called with each block that was changed.
    template <class Finish>
    void seal(Finish finish)
    {
        for (Block* const each : own_)
            if (each != nullptr)
                finish(*each);
        own_ = {};
        is_sealed_ = true;
    }

    [[nodiscard]] bool is_sealed() const noexcept { return is_sealed_ || blocks_.empty(); }

private:
    void keep(std::size_t place, std::shared_ptr<Block> block) noexcept
    {
        own_[place] = block.get();
        blocks_[place] = std::move(block);
    }

    std::vector<std::shared_ptr<Block const>> blocks_;
    std::vector<Block*> own_; // By place: null where other arrays share the block.
    bool is_sealed_ = false;
};

} // namespace cleat::tls
