// How do I serve HTTP/1.1 with Boost.Beast and keep-alive?
//
//     http_beast --cert site.pem [--listen 127.0.0.1:8443]

#include "arguments.hpp"

#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <string>

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace net = cleat::net;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

response answer(request const& asked, net::facts const& facts)
{
    response made{http::status::ok, asked.version()};
    made.set(http::field::content_type, "text/plain");
    made.keep_alive(asked.keep_alive());
    made.body() = fmt::format(
        "{} {}\nworker {}, {} with {}{}\n", std::string{asked.method_string()},
        std::string{asked.target()}, facts.worker, facts.tls.version, facts.tls.cipher,
        facts.tls.resumed ? ", resumed" : "");
    made.prepare_payload();
    return made;
}

asio::awaitable<void> serve(net::connection c)
{
    boost::beast::flat_buffer buffer;
    for (bool open = true; open;) {
        request asked;
        auto [ec, n] =
            co_await http::async_read(c.stream, buffer, asked, asio::as_tuple(asio::use_awaitable));
        if (ec)
            break;
        response const made = answer(asked, c.facts);
        co_await http::async_write(c.stream, made, asio::use_awaitable);
        open = made.keep_alive();
    }
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

constexpr char const* usage = "--cert site.pem [--listen 127.0.0.1:8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        net::server_spec spec;
        spec.listen = given.value("--listen", "127.0.0.1:0");
        spec.tls.alpn = {"http/1.1"};
        spec.tls.certificates.push_back(example::certificate(given.value("--cert")));
        net::server server{std::move(spec), serve};
        example::say_ready(server.port());
        given.wait_for_signal();
    });
}
