// inbox: a list that any thread adds to, and one thread empties, without a lock.

#pragma once

#include <atomic>
#include <utility>

namespace cleat {

/// inbox holds nodes that it does not own, linked by their member Next. It allocates nothing. What
/// a thread wrote to a node before push is seen by the thread that takes it.
template <class Node, Node* Node::*Next>
class inbox
{
public:
    inbox() noexcept = default;
    inbox(inbox&&) = delete;

    /// push adds a node. Any thread.
    void push(Node& node) noexcept
    {
        node.*Next = newest_.load(std::memory_order_relaxed);
        while (!newest_.compare_exchange_weak(
            node.*Next, &node, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }

    /// empty: a push that another thread makes now may be missed.
    [[nodiscard]] bool empty() const noexcept
    {
        return newest_.load(std::memory_order_relaxed) == nullptr;
    }

    /// take empties it: the oldest node, from which Next leads to the newer ones; null: there was
    /// none. Costs a load where it is empty.
    [[nodiscard]] Node* take() noexcept
    {
        if (empty())
            return nullptr;
        Node* stack = newest_.exchange(nullptr, std::memory_order_acquire);
        Node* in_order = nullptr;
        while (stack != nullptr)
            in_order = std::exchange(stack, std::exchange(stack->*Next, in_order));
        return in_order;
    }

private:
    std::atomic<Node*> newest_{nullptr}; // A stack.
};

} // namespace cleat
