// How do I write a TLS server on every core?
//
//     echo --cert site.pem [--listen 127.0.0.1:8443]

#include "arguments.hpp"

#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>

namespace asio = boost::asio;
namespace net = cleat::net;

asio::awaitable<void> echo(net::connection c)
{
    std::array<char, 16'384> block;
    for (;;) {
        auto [ec, n] = co_await c.stream.async_read_some(
            asio::buffer(block), asio::as_tuple(asio::use_awaitable));
        if (ec)
            break;
        co_await asio::async_write(c.stream, asio::buffer(block, n), asio::use_awaitable);
    }
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

constexpr char const* usage = "--cert site.pem [--listen 127.0.0.1:8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        net::server_spec spec;
        spec.listen = given.value("--listen", "127.0.0.1:0");
        spec.tls.certificates.push_back(example::certificate(given.value("--cert")));
        net::server server{std::move(spec), echo};
        example::say_ready(server.port());
        given.wait_for_signal();
    });
}
