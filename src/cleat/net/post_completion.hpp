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
/// The operation is posted to its own executor: a post to the fallback would dispatch it to that
/// one, and be two functions. Only for any_completion_handler, whose executor cannot be required
/// to queue (any_completion_executor), it is two.
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
