// executor: where a worker's completion handlers and coroutines run.

#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace cleat::net {

class worker;

/// task_node is one function in a worker's queue.
struct task_node
{
    /// The next one in its queue.
    task_node* next = nullptr;
    /// Runs the function if `run`, and frees the node. May throw std::bad_alloc, and only if `run`.
    void (*finish)(task_node&, bool run) = nullptr;
};

/// task_queue is a first-in, first-out queue of functions. It neither owns nor allocates.
class task_queue
{
public:
    task_queue() = default;
    task_queue(task_queue&&) = delete;

    /// empty: it has no function.
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

    /// last is the newest function. The queue must not be empty.
    [[nodiscard]] task_node const* last() const noexcept { return last_; }

    /// push adds a function, as the newest.
    void push(task_node& node) noexcept
    {
        node.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &node;
        last_ = &node;
    }

    /// pop removes the oldest function. The queue must not be empty.
    [[nodiscard]] task_node& pop() noexcept { return *std::exchange(first_, first_->next); }

private:
    task_node* first_ = nullptr;
    task_node* last_ = nullptr;
};

/// executor runs functions on its worker's thread. A handle: copying it copies a pointer, and it
/// must not be used after its worker. It meets Asio's requirements, so any Asio object can be made
/// with it: its execution context is the worker's io_context.
class executor
{
public:
    /// executor of a worker, which must outlive it.
    explicit executor(worker& owner) noexcept : worker_{&owner} {}

    /// query and require are for Asio. The execution context is the worker's io_context.
    [[nodiscard]] boost::asio::execution_context& query(
        boost::asio::execution::context_t) const noexcept;
    [[nodiscard]] static constexpr auto query(boost::asio::execution::relationship_t) noexcept
    {
        return boost::asio::execution::relationship.fork;
    }
    [[nodiscard]] constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) const noexcept
    {
        if (never_blocks_)
            return boost::asio::execution::blocking.never;
        return boost::asio::execution::blocking.possibly;
    }
    [[nodiscard]] executor require(boost::asio::execution::blocking_t::never_t) const noexcept
    {
        return {*worker_, true};
    }
    [[nodiscard]] executor require(boost::asio::execution::blocking_t::possibly_t) const noexcept
    {
        return {*worker_, false};
    }

    /// execute calls f at once where that is allowed and this is the worker's thread, and queues it
    /// otherwise. Any thread.
    template <class F>
    void execute(F&& f) const
    {
        if (!never_blocks_ && runs_here()) {
            std::decay_t<F> local{std::forward<F>(f)};
            local();
            return;
        }
        push(*make_node(std::forward<F>(f)));
    }

    /// runs_here: the calling thread is the worker's.
    [[nodiscard]] bool runs_here() const noexcept;

    friend bool operator==(executor const&, executor const&) noexcept = default;

private:
    executor(worker& owner, bool never_blocks) noexcept
        : worker_{&owner}, never_blocks_{never_blocks}
    {
    }

    template <class F>
    static task_node* make_node(F&& f)
    {
        struct node : task_node
        {
            explicit node(F&& callable) : function{std::forward<F>(callable)} {}
            std::decay_t<F> function;
        };
        using allocator = boost::asio::recycling_allocator<node>;
        node* const made = new (allocator{}.allocate(1)) node{std::forward<F>(f)};
        made->finish = [](task_node& base, bool run) {
            node& self = static_cast<node&>(base);
            std::decay_t<F> function{std::move(self.function)};
            self.~node();
            allocator{}.deallocate(&self, 1); // Before the call, which may reuse the memory.
            if (run)
                function();
        };
        return made;
    }

    void push(task_node& node) const noexcept;

    worker* worker_;
    bool never_blocks_ = false;
};

} // namespace cleat::net
