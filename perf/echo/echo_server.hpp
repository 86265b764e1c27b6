// echo_server: a server that echoes, in a coroutine for each connection, the same on each TLS
// stream. The programs that include it differ in the stream, and in how they accept.

#pragma once

#include "loopback.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace perf {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

constexpr auto token = asio::as_tuple(asio::use_awaitable);

/// echo_options is what a server does.
struct echo_options
{
    std::string listen = "127.0.0.1:0";
    std::string pem; ///< File with the certificate chain and its key.
    std::size_t block_size = 64 * 1024;
    bool tickets = false;   ///< A client gets one session ticket, otherwise none.
    bool websocket = false; ///< Messages are a WebSocket's, otherwise the bytes of the stream.
};

/// echo writes what each read has given, until the client ends.
template <class Stream>
asio::awaitable<void> echo(Stream& stream, std::size_t block_size)
{
    std::unique_ptr<char[]> const block = std::make_unique_for_overwrite<char[]>(block_size);
    for (;;) {
        auto const [ended, size] =
            co_await stream.async_read_some(asio::buffer(block.get(), block_size), token);
        if (ended)
            break;
        auto const [failed, written] =
            co_await asio::async_write(stream, asio::buffer(block.get(), size), token);
        if (failed)
            co_return;
    }
    co_await stream.async_shutdown(token);
}

/// echo_messages sends each message back in one frame.
template <class Stream>
asio::awaitable<void> echo_messages(Stream stream)
{
    beast::websocket::stream<Stream> messages{std::move(stream)};
    auto const [refused] = co_await messages.async_accept(token);
    if (refused)
        co_return;
    messages.binary(true);
    messages.auto_fragment(false);
    beast::flat_buffer message;
    for (;;) {
        auto const [ended, size] = co_await messages.async_read(message, token);
        if (ended)
            co_return;
        auto const [failed, written] = co_await messages.async_write(message.data(), token);
        if (failed)
            co_return;
        message.consume(message.size());
    }
}

/// serve_connection: a Library has the types `context`, `stream` and `websocket_layer`.
template <class Library>
asio::awaitable<void> serve_connection(
    tcp::socket accepted, typename Library::context& context, echo_options const& use)
{
    if (use.websocket) {
        typename Library::websocket_layer stream{std::move(accepted), context};
        auto const [failed] = co_await stream.async_handshake(Library::stream::server, token);
        if (!failed)
            co_await echo_messages(std::move(stream));
        co_return;
    }
    typename Library::stream stream{std::move(accepted), context};
    auto const [failed] = co_await stream.async_handshake(Library::stream::server, token);
    if (!failed)
        co_await echo(stream, use.block_size);
}

template <class Library>
asio::awaitable<void> accept_connections(
    tcp::acceptor& acceptor, typename Library::context& context, echo_options const& use)
{
    for (;;) {
        auto [failed, accepted] = co_await acceptor.async_accept(token);
        if (failed == asio::error::connection_aborted)
            continue;
        if (failed) // Without descriptors, for one, a loop would count as the server's CPU.
            throw boost::system::system_error{failed};
        asio::co_spawn(
            acceptor.get_executor(), serve_connection<Library>(std::move(accepted), context, use),
            asio::detached);
    }
}

/// run serves on one thread, until a signal ends it. Throws for a wrong setting.
template <class Library>
void run(echo_options const& use)
{
    asio::io_context io{1};
    typename Library::context context{Library::context::tls_server};
    context.use_certificate_chain_file(use.pem);
    context.use_private_key_file(use.pem, Library::context::pem);
    Library::set_tickets(context, use.tickets);
    tcp::acceptor acceptor{io, tcp::v4(), listen_on(parse_address(use.listen), false)};
    announce(acceptor.native_handle());
    asio::signal_set signals{io, SIGTERM, SIGINT};
    signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
    asio::co_spawn(
        io, accept_connections<Library>(acceptor, context, use), [](std::exception_ptr failed) {
            if (failed)
                std::rethrow_exception(failed);
        });
    io.run();
}

/// main_of reads the options, calls `run`, and gives the exit code.
inline int main_of(
    int argc, char** argv, std::string const& version, void (*run)(echo_options const&))
try {
    echo_options use;
    CLI::App app{"A TLS server that echoes: what does its stream cost?"};
    app.add_option("--listen", use.listen, "address and port; port 0 picks one");
    app.add_option("--pem", use.pem, "file with the certificate chain and its key")->required();
    app.add_option("--block", use.block_size, "bytes of each connection's buffer")
        ->check(CLI::Range(std::size_t{64}, std::size_t{1} << 24U));
    app.add_flag("--tickets", use.tickets, "clients get a session ticket");
    app.add_flag("--websocket", use.websocket, "messages are a WebSocket's");
    app.set_version_flag("--version", version);
    CLI11_PARSE(app, argc, argv);
    raise_open_files();
    run(use);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "echo_server: %s\n", e.what());
    return 1;
}

} // namespace perf
