// queued_operation: the life of an operation of Asio's that a worker's queue ends.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/net/executor.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>

#include <memory>
#include <utility>

namespace cleat::net {

/// operation_memory is the allocator of a handler, for an Operation that has it.
template <class Operation, class Handler>
using operation_memory = typename std::allocator_traits<
    boost::asio::associated_allocator_t<Handler>>::template rebind_alloc<Operation>;

/// allocate_operation is memory for an Operation, whose constructor then takes the handler. Where
/// it throws std::bad_alloc, the caller still has its handler.
template <class Operation, class Handler>
[[nodiscard]] Operation* allocate_operation(Handler const& handler)
{
    operation_memory<Operation, Handler> memory{boost::asio::get_associated_allocator(handler)};
    return std::allocator_traits<decltype(memory)>::allocate(memory, 1);
}

/// end_operation destroys an operation, which owns `handler`, and then dispatches the handler with
/// `ec`, on the fallback where the handler has no executor of its own. Call it on the worker's
/// thread. `dispatched` is false where the worker ends: then no handler runs any more.
template <class Operation, class Handler>
void end_operation(
    Operation& ended, Handler& handler, executor fallback, error_code ec, bool dispatched)
{
    Handler kept{std::move(handler)};
    operation_memory<Operation, Handler> memory{boost::asio::get_associated_allocator(kept)};
    ended.~Operation();
    std::allocator_traits<decltype(memory)>::deallocate(memory, &ended, 1);
    if (!dispatched)
        return;
    auto const where = boost::asio::get_associated_executor(kept, fallback);
    boost::asio::dispatch(where, [kept = std::move(kept), ec]() mutable { std::move(kept)(ec); });
}

} // namespace cleat::net
