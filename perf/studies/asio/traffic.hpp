// traffic: what both ends of a connection do in every arm, on whatever stream the arm has.

#pragma once

#include "load.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <latch>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace study {

namespace asio = boost::asio;

/// give_up ends the program: a run that has lost a connection has nothing to say, and the others
/// would wait for it.
[[noreturn]] inline void give_up(char const* why)
{
    std::fprintf(stderr, "study-asio: %s\n", why);
    std::_Exit(1);
}

/// or_give_up is the completion of a coroutine that must not fail.
inline void or_give_up(std::exception_ptr failed)
try {
    if (failed)
        std::rethrow_exception(failed);
} catch (std::exception const& e) {
    give_up(e.what());
}

/// serve is the server's part behind its handshake: each message must come whole and in its order,
/// until the client closes. A byte tells the client that its last one has arrived.
template <class Stream>
asio::awaitable<void> serve(Stream& stream, load const& what, seen& found)
{
    std::uint64_t number = 0;
    std::vector<char> message(std::max(what.size, sizeof number));
    for (;; ++number) {
        auto const [ec, size] = co_await asio::async_read(
            stream, asio::buffer(message), asio::as_tuple(asio::use_awaitable));
        if (ec == asio::error::eof && size == 0)
            break;
        if (ec)
            throw boost::system::system_error{ec, "the server reads"};
        if (std::memcmp(message.data(), &number, sizeof number) != 0)
            throw std::runtime_error{"a message is not the one that was to come"};
        if (number + 1 == what.messages)
            co_await asio::async_write(
                stream, asio::buffer(message.data(), 1), asio::use_awaitable);
    }
    found.messages += number;
    ++found.connections;
    co_await stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

/// close is the client's end of a connection. It waits for the server's, so that the server has
/// counted this connection when it returns.
template <class Stream>
asio::awaitable<void> close(Stream& stream)
{
    auto const [ec] = co_await stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
    if (ec && ec != asio::error::eof)
        throw boost::system::system_error{ec, "the client closes"};
}

/// send is the client's part behind its handshake.
template <class Stream>
asio::awaitable<void> send(std::unique_ptr<Stream> stream, load const& what, std::latch& done)
{
    std::vector<char> message(what.size);
    for (std::uint64_t number = 0; number < what.messages; ++number) {
        std::memcpy(message.data(), &number, sizeof number);
        co_await asio::async_write(*stream, asio::buffer(message), asio::use_awaitable);
    }
    char arrived = 0;
    co_await asio::async_read(*stream, asio::buffer(&arrived, 1), asio::use_awaitable);
    co_await close(*stream);
    stream.reset(); // On its own thread.
    done.count_down();
}

} // namespace study
