// coroutines_for_tests: steps of tests that are coroutines on streams.

#pragma once

#include <cleat/net/stream.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace cleat::net {

/// as_result gives an operation's error as a value.
inline constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

/// handshake fails the test where the handshake fails.
boost::asio::awaitable<void> handshake(auto& s, stream_base::handshake_type role)
{
    co_await s.async_handshake(role, boost::asio::use_awaitable);
}

/// settle runs all handlers that are ready.
inline boost::asio::awaitable<void> settle()
{
    for (int i = 0; i < 20; ++i)
        co_await boost::asio::post(boost::asio::use_awaitable);
}

} // namespace cleat::net
