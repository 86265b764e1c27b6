// How do I serve a certificate for each name, and know which name a client asked for?
//
//     certificate_per_name --cert a.pem --cert b.pem [--listen 127.0.0.1:8443]
//
// Each certificate is for the names in it; the last one is also for all other names. Try it with
//     openssl s_client -connect 127.0.0.1:PORT -servername NAME

#include "arguments.hpp"

#include <cleat/net/server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <string>

namespace asio = boost::asio;
namespace net = cleat::net;

asio::awaitable<void> greet(net::connection c)
{
    cleat::tls::handshake_info const& agreed = c.facts.tls;
    std::string const text = fmt::format(
        "Hello {}. You asked for '{}', and we speak {} with {} over {}.\n", to_string(c.facts.peer),
        agreed.server_name, agreed.version, agreed.cipher, agreed.group);
    co_await asio::async_write(c.stream, asio::buffer(text), asio::use_awaitable);
    co_await c.stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

constexpr char const* usage = "--cert a.pem --cert b.pem [--listen 127.0.0.1:8443]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        net::server_spec spec;
        spec.listen = given.value("--listen", "127.0.0.1:0");
        for (std::string const& file : given.all("--cert"))
            spec.tls.certificates.push_back(example::certificate(file));
        net::server server{std::move(spec), greet};
        example::say_ready(server.port());
        given.wait_for_signal();
    });
}
