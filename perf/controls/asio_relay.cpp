// asio_relay.cpp: a TLS to TCP relay on boost::asio::ssl::stream, written as one usually is.
//
// One io_context, one coroutine for each direction, a buffer for each. This is the
// control arm for what cleat::net::stream replaces. With --threads it is the naive server: they all
// run that io_context, and share the context of TLS.
#include "alpn.hpp"
#include "loopback.hpp"

#include <openssl/crypto.h>

#include <CLI/CLI.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using tls_stream = asio::ssl::stream<tcp::socket>;
using namespace asio::experimental::awaitable_operators;

constexpr auto token = asio::as_tuple(asio::use_awaitable);

struct options
{
    std::string listen = "127.0.0.1:0";
    std::string upstream;
    std::string pem;
    std::string groups;
    std::string tls = "1.3";
    std::string alpn; // the protocol that it selects; empty: none
    unsigned threads = 1;
    std::size_t buffer_size = 16 * 1024; // a record: ssl::stream reads no more than one at once
};

tcp::endpoint endpoint(std::string const& text)
{
    sockaddr_in const address = perf::parse_address(text);
    return {asio::ip::address_v4(ntohl(address.sin_addr.s_addr)), ntohs(address.sin_port)};
}

asio::ssl::context make_context(options const& use)
{
    asio::ssl::context context(asio::ssl::context::tls_server);
    SSL_CTX* const native = context.native_handle();
    std::uint16_t const version = use.tls == "1.2" ? TLS1_2_VERSION : TLS1_3_VERSION;
    SSL_CTX_set_min_proto_version(native, version);
    SSL_CTX_set_max_proto_version(native, version);
    context.use_certificate_chain_file(use.pem);
    context.use_private_key_file(use.pem, asio::ssl::context::pem);
    if (!use.groups.empty() && SSL_CTX_set1_groups_list(native, use.groups.c_str()) != 1)
        throw std::runtime_error("cannot use groups " + use.groups);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(native, 1);
    perf::select_protocol(native, use.alpn);
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

// upload copies from client to upstream until the client ends.
asio::awaitable<void> upload(tls_stream& client, tcp::socket& upstream, std::size_t buffer_size)
{
    std::vector<char> buffer(buffer_size);
    for (;;) {
        auto [ec, size] = co_await client.async_read_some(asio::buffer(buffer), token);
        if (ec) {
            boost::system::error_code ignored;
            upstream.shutdown(tcp::socket::shutdown_send, ignored);
            co_return;
        }
        auto [failed, sent] =
            co_await asio::async_write(upstream, asio::buffer(buffer, size), token);
        if (failed)
            co_return;
    }
}

// download copies from upstream to client until the upstream ends.
asio::awaitable<void> download(tls_stream& client, tcp::socket& upstream, std::size_t buffer_size)
{
    std::vector<char> buffer(buffer_size);
    for (;;) {
        auto [ec, size] = co_await upstream.async_read_some(asio::buffer(buffer), token);
        if (ec) {
            co_await client.async_shutdown(token);
            co_return;
        }
        auto [failed, sent] = co_await asio::async_write(client, asio::buffer(buffer, size), token);
        if (failed) {
            boost::system::error_code ignored;
            upstream.close(ignored);
            co_return;
        }
    }
}

asio::awaitable<void> session(tls_stream client, tcp::endpoint to, std::size_t buffer_size)
{
    auto [ec] = co_await client.async_handshake(tls_stream::server, token);
    if (ec)
        co_return;
    tcp::socket upstream(client.get_executor());
    auto [unreachable] = co_await upstream.async_connect(to, token);
    if (unreachable)
        co_return;
    upstream.set_option(tcp::no_delay(true));
    co_await (upload(client, upstream, buffer_size) && download(client, upstream, buffer_size));
}

// A connection's executor: with several threads its handlers must not run at the same time.
asio::any_io_executor executor_of_one(tcp::acceptor& acceptor, unsigned threads)
{
    if (threads == 1)
        return acceptor.get_executor();
    return asio::make_strand(acceptor.get_executor());
}

asio::awaitable<void> serve(
    tcp::acceptor& acceptor, asio::ssl::context& context, options const& use)
{
    tcp::endpoint const to = endpoint(use.upstream);
    for (;;) {
        asio::any_io_executor const its = executor_of_one(acceptor, use.threads);
        auto [ec, socket] = co_await acceptor.async_accept(its, token);
        if (ec)
            continue;
        asio::co_spawn(
            its, session(tls_stream(std::move(socket), context), to, use.buffer_size),
            asio::detached);
    }
}

void run(options const& use)
{
    asio::io_context io(static_cast<int>(use.threads));
    asio::ssl::context context = make_context(use);
    tcp::acceptor acceptor(io, tcp::v4(), perf::listen_on(perf::parse_address(use.listen), true));
    perf::announce(acceptor.native_handle());
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
    asio::co_spawn(io, serve(acceptor, context, use), asio::detached);
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < use.threads; ++i)
        others.emplace_back([&io] { io.run(); });
    io.run();
}

} // namespace

int main(int argc, char** argv)
try {
    options use;
    CLI::App app{"A TLS to TCP relay on boost::asio::ssl::stream: a control arm"};
    app.add_option("--listen", use.listen, "address and port; port 0 picks one");
    app.add_option("--upstream", use.upstream, "address and port")->required();
    app.add_option("--pem", use.pem, "file with the certificate chain and its key")->required();
    app.add_option("--groups", use.groups, "key exchange groups, in order");
    app.add_option("--tls", use.tls, "the one protocol version")
        ->check(CLI::IsMember({"1.2", "1.3"}));
    app.add_option("--alpn", use.alpn, "the one protocol that it selects by ALPN");
    app.add_option("--buffer", use.buffer_size, "bytes of a direction's buffer")
        ->check(CLI::Range(std::size_t{1024}, std::size_t{1024} * 1024));
    app.add_option("--threads", use.threads, "that run the one io_context")
        ->check(CLI::Range(1U, 256U));
    app.set_version_flag("--version", OpenSSL_version(OPENSSL_VERSION));
    CLI11_PARSE(app, argc, argv);
    perf::raise_open_files();
    run(use);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "asio_relay: %s\n", e.what());
    return 1;
}
