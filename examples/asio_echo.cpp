// How do I move a program from asio::ssl::stream to cleat?
//
// Change one line: a test checks that asio_echo.cpp and cleat_echo.cpp differ in no other.
//
//     PROGRAM --cert site.pem [--port 8443]

#include "arguments.hpp"

#include <cleat/net/ssl.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <string>
#include <thread>

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;

asio::awaitable<void> echo(tcp::socket accepted, ssl::context& context)
{
    ssl::stream<tcp::socket> stream{std::move(accepted), context};
    try {
        co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
        std::array<char, 16'384> block;
        for (;;) {
            std::size_t const n =
                co_await stream.async_read_some(asio::buffer(block), asio::use_awaitable);
            co_await asio::async_write(stream, asio::buffer(block, n), asio::use_awaitable);
        }
    } catch (boost::system::system_error const& e) {
        if (e.code() != asio::error::eof)
            co_return;
    }
    co_await stream.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, ssl::context& context)
{
    for (;;)
        asio::co_spawn(
            acceptor.get_executor(),
            echo(co_await acceptor.async_accept(asio::use_awaitable), context), asio::detached);
}

constexpr char const* usage = "--cert site.pem [--port 8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        std::string const certificate = given.value("--cert");
        ssl::context context{ssl::context::tls_server};
        context.use_certificate_chain_file(certificate);
        context.use_private_key_file(certificate, ssl::context::pem);

        asio::io_context io{1};
        unsigned short const port = given.port("--port", "0");
        tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), port}};
        asio::co_spawn(io, accept_all(acceptor, context), asio::detached);
        std::thread loop{[&] { io.run(); }};
        example::say_ready(acceptor.local_endpoint().port());
        given.wait_for_signal();
        io.stop();
        loop.join();
    });
}
