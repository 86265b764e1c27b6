// What does a plain server behind cleat look like, and what reaches it?
//
//     demo_origin [--listen 127.0.0.1:0]
//
// It answers a page that says what came: the PROXY header, if there was one, and the request.
// /bytes/N gives N bytes. It speaks enough HTTP/1.1 for curl and a browser, and runs on cleat's
// plain side: a worker, its sockets, and Asio's algorithms.

#include "arguments.hpp"

#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/worker_pool.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace asio = boost::asio;
namespace net = cleat::net;
using asio::ip::tcp;

namespace {

constexpr std::size_t head_max = 32'768;
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40U;
constexpr std::string_view proxy_v2_signature{"\r\n\r\n\0\r\nQUIT\n", 12};

// What a connection has sent and nobody has read yet.
struct arrivals
{
    net::socket socket;
    std::string bytes;

    asio::awaitable<void> at_least(std::size_t n)
    {
        if (bytes.size() < n)
            co_await asio::async_read(
                socket, asio::dynamic_buffer(bytes, head_max),
                asio::transfer_at_least(n - bytes.size()), asio::use_awaitable);
    }

    asio::awaitable<std::string> until(std::string_view end)
    {
        std::size_t const n = co_await asio::async_read_until(
            socket, asio::dynamic_buffer(bytes, head_max), end, asio::use_awaitable);
        co_return take(n);
    }

    std::string take(std::size_t n)
    {
        std::string taken = bytes.substr(0, n);
        bytes.erase(0, n);
        return taken;
    }
};

// A PROXY header, version 1 or 2, in words; empty if there is none.
asio::awaitable<std::string> proxy_header(arrivals& from)
{
    co_await from.at_least(1);
    if (from.bytes.front() != 'P' && from.bytes.front() != '\r')
        co_return std::string{};
    co_await from.at_least(proxy_v2_signature.size());
    if (from.bytes.starts_with("PROXY ")) {
        std::string line = co_await from.until("\r\n");
        co_return line.substr(0, line.size() - 2);
    }
    if (!from.bytes.starts_with(proxy_v2_signature))
        co_return std::string{};
    constexpr std::size_t fixed = 16;
    co_await from.at_least(fixed);
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(from.bytes[i]); };
    std::size_t const size = std::size_t{byte(14)} << 8U | byte(15);
    co_await from.at_least(fixed + size);
    std::string const header = from.take(fixed + size);
    auto const at = [&](std::size_t i) { return static_cast<unsigned char>(header[i]); };
    if (at(13) == 0x11 && size >= 12)
        co_return fmt::format(
            "PROXY v2, TCP over IPv4 from {}.{}.{}.{}:{}, {} bytes in all", at(16), at(17), at(18),
            at(19), at(24) << 8U | at(25), header.size());
    co_return fmt::format("PROXY v2, {} bytes in all", header.size());
}

bool has_line(std::string const& head, std::string_view line)
{
    auto const same = [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
    };
    return std::search(head.begin(), head.end(), line.begin(), line.end(), same) != head.end();
}

std::string page(std::string const& proxy, std::string const& head)
{
    std::string const said = proxy.empty() ? "It came without a PROXY header." : proxy;
    return fmt::format(
        "Hello! You have reached the demo origin.\n\n"
        "I speak plain HTTP; whoever is in front of me did the TLS.\n{}\n\nYour request was:\n\n{}",
        said, head);
}

asio::awaitable<void> send_bytes(net::socket& to, std::uint64_t count)
{
    std::string const block(65'536, 'x');
    while (count != 0) {
        std::size_t const n =
            static_cast<std::size_t>(std::min<std::uint64_t>(count, block.size()));
        co_await asio::async_write(to, asio::buffer(block, n), asio::use_awaitable);
        count -= n;
    }
}

// Gives whether the connection stays open.
asio::awaitable<bool> answer(arrivals& client, std::string const& proxy)
{
    std::string const head = co_await client.until("\r\n\r\n");
    bool const has_body =
        has_line(head, "\r\ncontent-length:") || has_line(head, "\r\ntransfer-enc");
    bool const stays =
        !has_body && has_line(head, "http/1.1\r\n") && !has_line(head, "\r\nconnection: close");
    char const* const connection = stays ? "keep-alive" : "close";
    bool const body_wanted = !head.starts_with("HEAD ");

    std::string_view constexpr bytes_path = " /bytes/";
    std::size_t const at = head.substr(0, head.find("\r\n")).find(bytes_path);
    std::uint64_t count = 0;
    if (at != std::string::npos) {
        char const* const digits = head.data() + at + bytes_path.size();
        std::from_chars(digits, head.data() + head.size(), count);
        count = std::min(count, bytes_max);
    }
    std::string const text = at == std::string::npos ? page(proxy, head) : std::string{};
    std::string response = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n\r\n",
        text.empty() ? "application/octet-stream" : "text/plain",
        text.empty() ? count : text.size(), connection);
    if (body_wanted)
        response += text;
    co_await asio::async_write(client.socket, asio::buffer(response), asio::use_awaitable);
    if (body_wanted)
        co_await send_bytes(client.socket, count);
    co_return stays;
}

// Ends what waits on a socket when its worker is told to end.
struct ending : net::waiter
{
    explicit ending(net::socket& s) : by{s.on()}, socket{s}
    {
        wake = [](net::waiter& w, cleat::error_code) noexcept {
            static_cast<ending&>(w).socket.cancel();
        };
        by.guard(this);
    }

    net::interrupt by;
    net::socket& socket;
};

asio::awaitable<void> serve(net::socket accepted)
{
    arrivals client{std::move(accepted), {}};
    ending const with_worker{client.socket};
    try {
        std::string const proxy = co_await proxy_header(client);
        while (co_await answer(client, proxy)) {
        }
        client.socket.shutdown_send();
    } catch (boost::system::system_error const&) {
        // The peer has gone, or sent a head that no program sends. Closing says it all.
    }
}

asio::awaitable<void> accept_all(net::worker& on, tcp::acceptor& acceptor)
{
    for (;;) {
        tcp::socket accepted = co_await acceptor.async_accept(asio::use_awaitable);
        accepted.set_option(tcp::no_delay{true});
        net::socket plain{on, cleat::unique_fd{accepted.release()}};
        asio::co_spawn(on.get_executor(), serve(std::move(plain)), asio::detached);
    }
}

} // namespace

constexpr char const* usage = "[--listen 127.0.0.1:0]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        std::string const listen = given.value("--listen", "127.0.0.1:0");
        std::size_t const colon = listen.rfind(':');
        if (colon == std::string::npos)
            throw std::invalid_argument{"--listen wants an address and a port: 127.0.0.1:8080"};
        boost::system::error_code wrong;
        tcp::endpoint const at{
            asio::ip::make_address(listen.substr(0, colon), wrong),
            example::arguments::port_in("--listen", listen.substr(colon + 1))};
        if (wrong)
            throw std::invalid_argument{fmt::format("--listen: {} begins with no address", listen)};

        std::unique_ptr<tcp::acceptor> acceptor;
        net::worker_pool_spec spec;
        spec.workers = 1;
        spec.pin = false;
        spec.begin = [&](net::worker& on) {
            acceptor = std::make_unique<tcp::acceptor>(on.get_executor(), at);
            asio::co_spawn(on.get_executor(), accept_all(on, *acceptor), asio::detached);
        };
        net::worker_pool pool{std::move(spec)};
        example::say_ready(acceptor->local_endpoint().port());
        given.wait_for_signal();
        pool.interrupt_all();
        pool.drain(std::chrono::seconds{1});
        pool.stop();
        acceptor.reset(); // Before the worker that it runs on.
    });
}
