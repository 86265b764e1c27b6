// post_completion: the end of an operation that completes before its initiating function returns.

#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/require.hpp>

#include <utility>

namespace cleat::net {

/// post_completion queues a composed operation, which is then called once more: a handler must not
/// run inside the initiating function. `fallback` is the executor of the object that operates.
///
/// It posts the operation to the operation's own executor, which queues one function. A post to the
/// fallback would queue two, because the fallback's function dispatches to the own executor. Only
/// any_completion_handler needs the fallback: its executor (any_completion_executor) cannot be
/// required to queue.
template <class Operation, class Executor>
void post_completion(Operation&& operation, Executor const& fallback)
{
    namespace asio = boost::asio;
    using own_executor = asio::associated_executor_t<Operation>;
    if constexpr (asio::can_require_v<own_executor, asio::execution::blocking_t::never_t>)
        asio::post(std::forward<Operation>(operation));
    else
        asio::post(fallback, std::forward<Operation>(operation));
}

} // namespace cleat::net
