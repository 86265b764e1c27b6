// mailbox: objects that any thread makes and passes to one thread, which then owns them.

#pragma once

#include <cleat/core/inbox.hpp>

#include <memory>
#include <utility>

namespace cleat::app {

/// mailbox is an inbox that owns its nodes. Node's member Next is the mailbox's.
template <class Node, Node* Node::*Next = &Node::next>
class mailbox
{
public:
    mailbox() noexcept = default;
    mailbox(mailbox&&) = delete;

    /// No post may run any more.
    ~mailbox()
    {
        while (next() != nullptr) {
        }
    }

    /// post adds a node. Any thread.
    void post(std::unique_ptr<Node> made) noexcept { posted_.push(*made.release()); }

    /// next is the oldest node; null: there is none. One thread.
    [[nodiscard]] std::unique_ptr<Node> next() noexcept
    {
        if (taken_ == nullptr)
            taken_ = posted_.take();
        std::unique_ptr<Node> first{taken_};
        if (first)
            taken_ = std::exchange((*first).*Next, nullptr);
        return first;
    }

private:
    inbox<Node, Next> posted_;
    Node* taken_ = nullptr; // The oldest of those that were taken, and are not handed over.
};

} // namespace cleat::app
