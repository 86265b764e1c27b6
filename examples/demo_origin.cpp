// How does a plain server behind cleat look, and what does it receive?
//
//     demo_origin [--listen 127.0.0.1:0]
//
// It answers with a page that shows the PROXY header, if there was one, and the request. /bytes/N
// gives N bytes. It implements enough of HTTP/1.1 for curl and a browser, with a worker of cleat,
// its sockets without TLS, and Asio's algorithms.

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

// A connection, and the bytes that were received and not used yet.
struct buffered_connection
{
    net::socket socket;
    std::string bytes;

    asio::awaitable<void> receive_at_least(std::size_t n)
    {
        if (bytes.size() < n)
            co_await asio::async_read(
                socket, asio::dynamic_buffer(bytes, head_max),
                asio::transfer_at_least(n - bytes.size()), asio::use_awaitable);
    }

    asio::awaitable<std::string> take_until(std::string_view end)
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

// A description of the PROXY header, version 1 or 2; empty if there is none.
asio::awaitable<std::string> proxy_header(buffered_connection& client)
{
    co_await client.receive_at_least(1);
    if (client.bytes.front() != 'P' && client.bytes.front() != '\r')
        co_return std::string{};
    co_await client.receive_at_least(proxy_v2_signature.size());
    if (client.bytes.starts_with("PROXY ")) {
        std::string line = co_await client.take_until("\r\n");
        co_return line.substr(0, line.size() - 2);
    }
    if (!client.bytes.starts_with(proxy_v2_signature))
        co_return std::string{};
    constexpr std::size_t fixed = 16;
    co_await client.receive_at_least(fixed);
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(client.bytes[i]); };
    std::size_t const size = std::size_t{byte(14)} << 8U | byte(15);
    co_await client.receive_at_least(fixed + size);
    std::string const header = client.take(fixed + size);
    auto const field = [&](std::size_t i) { return static_cast<unsigned char>(header[i]); };
    if (field(13) == 0x11 && size >= 12)
        co_return fmt::format(
            "PROXY v2, TCP over IPv4 from {}.{}.{}.{}:{}, {} bytes in all", field(16), field(17),
            field(18), field(19), field(24) << 8U | field(25), header.size());
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
        "I speak plain HTTP; the proxy in front of me terminated TLS.\n{}\n\nYour request "
        "was:\n\n{}",
        said, head);
}

asio::awaitable<void> send_bytes(net::socket& client, std::uint64_t count)
{
    std::string const block(65'536, 'x');
    while (count != 0) {
        std::size_t const n =
            static_cast<std::size_t>(std::min<std::uint64_t>(count, block.size()));
        co_await asio::async_write(client, asio::buffer(block, n), asio::use_awaitable);
        count -= n;
    }
}

// Returns whether the connection stays open.
asio::awaitable<bool> answer(buffered_connection& client, std::string const& proxy)
{
    std::string const head = co_await client.take_until("\r\n\r\n");
    bool const has_body =
        has_line(head, "\r\ncontent-length:") || has_line(head, "\r\ntransfer-enc");
    bool const stays =
        !has_body && has_line(head, "http/1.1\r\n") && !has_line(head, "\r\nconnection: close");
    char const* const connection = stays ? "keep-alive" : "close";
    bool const body_wanted = !head.starts_with("HEAD ");

    std::string_view constexpr bytes_path = " /bytes/";
    std::size_t const path = head.substr(0, head.find("\r\n")).find(bytes_path);
    std::uint64_t count = 0;
    if (path != std::string::npos) {
        char const* const digits = head.data() + path + bytes_path.size();
        std::from_chars(digits, head.data() + head.size(), count);
        count = std::min(count, bytes_max);
    }
    std::string const text = path == std::string::npos ? page(proxy, head) : std::string{};
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

// Ends the waits on a socket when its worker stops.
struct cancel_at_stop : net::waiter
{
    explicit cancel_at_stop(net::socket& s) : interrupt{s.worker()}, socket{s}
    {
        wake = [](net::waiter& w, cleat::error_code) noexcept {
            static_cast<cancel_at_stop&>(w).socket.cancel();
        };
        interrupt.guard(this);
    }

    net::interrupt interrupt;
    net::socket& socket;
};

asio::awaitable<void> serve(net::socket accepted)
{
    buffered_connection client{std::move(accepted), {}};
    cancel_at_stop const guard{client.socket};
    try {
        std::string const proxy = co_await proxy_header(client);
        while (co_await answer(client, proxy)) {
        }
        client.socket.shutdown_send();
    } catch (boost::system::system_error const&) {
        // The peer has closed, or sent a head that is too long. Close the connection.
    }
}

asio::awaitable<void> accept_all(net::worker& worker, tcp::acceptor& acceptor)
{
    for (;;) {
        tcp::socket accepted = co_await acceptor.async_accept(asio::use_awaitable);
        accepted.set_option(tcp::no_delay{true});
        net::socket plain{worker, cleat::unique_fd{accepted.release()}};
        asio::co_spawn(worker.get_executor(), serve(std::move(plain)), asio::detached);
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
        tcp::endpoint const endpoint{
            asio::ip::make_address(listen.substr(0, colon), wrong),
            example::arguments::port_in("--listen", listen.substr(colon + 1))};
        if (wrong)
            throw std::invalid_argument{fmt::format("--listen: {} begins with no address", listen)};

        std::unique_ptr<tcp::acceptor> acceptor;
        net::worker_pool_spec spec;
        spec.workers = 1;
        spec.pin = false;
        spec.begin = [&](net::worker& worker) {
            acceptor = std::make_unique<tcp::acceptor>(worker.get_executor(), endpoint);
            asio::co_spawn(worker.get_executor(), accept_all(worker, *acceptor), asio::detached);
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
