// repeated_task: a function that an object has its worker call again and again.

#pragma once

#include <cleat/net/priority.hpp>

#include <functional>
#include <memory>

namespace cleat::net {

class worker;

/// repeated_task is queued without an allocation. It may be destroyed while it is queued, and its
/// function is then not called. It belongs to its worker's thread.
class repeated_task
{
public:
    /// Allocates. The function must not throw, and may queue the task again, but not destroy it.
    repeated_task(worker& owner, std::function<void()> function);
    repeated_task(repeated_task&&) = delete;
    ~repeated_task();

    /// queue makes the worker call the function once, in its next turn for this priority. Does
    /// nothing while the task is queued.
    void queue(priority level) noexcept;

private:
    struct node;

    worker& worker_;
    std::unique_ptr<node> node_; // The worker's queue may keep it for longer.
};

} // namespace cleat::net
