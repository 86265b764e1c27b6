// How do I write a client that verifies its server and resumes its sessions?
//
//     https_client --host example.org [--port 443] [--authorities ca.pem] [--sessions file]
//
// It gets / twice, on two connections. The second one resumes the session of the first; with
// --sessions so does the first of the next process. Without --authorities they are the system's.

#include "arguments.hpp"

#include <cleat/net/stream.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session_cache.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = cleat::net;
namespace tls = cleat::tls;

struct place
{
    std::string host;
    unsigned short port;
};

asio::awaitable<void> get(tls::context& context, place server)
{
    auto const here = co_await asio::this_coro::executor;
    net::stream<beast::tcp_stream> stream{here, context};
    beast::tcp_stream& socket = beast::get_lowest_layer(stream);
    stream.set_server(server.host, server.port); // SNI, the name to verify, and whose sessions.

    asio::ip::tcp::resolver resolver{here};
    auto const found = co_await resolver.async_resolve(
        server.host, std::to_string(server.port), asio::use_awaitable);
    socket.expires_after(std::chrono::seconds{30});
    co_await socket.async_connect(found, asio::use_awaitable);

    auto [refused] = co_await stream.async_handshake(
        net::stream_base::client, asio::as_tuple(asio::use_awaitable));
    if (refused)
        throw std::runtime_error{
            fmt::format("{}: {}", refused.message(), stream.engine().failure().reason)};

    http::request<http::empty_body> request{http::verb::get, "/", 11};
    request.set(http::field::host, server.host);
    request.set(http::field::connection, "close");
    co_await http::async_write(stream, request, asio::use_awaitable);
    beast::flat_buffer buffer;
    http::response<http::string_body> response;
    co_await http::async_read(stream, buffer, response, asio::use_awaitable);
    fmt::print(
        "{} {}, {} bytes{}\n", response.result_int(), stream.info().version, response.body().size(),
        stream.info().resumed ? ", resumed" : "");

    // Many servers close without a close_notify. The response has told its own length.
    co_await stream.async_shutdown(asio::as_tuple(asio::use_awaitable));
}

std::string read_file(std::string const& path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// Only its owner may read the file: sessions are as secret as a key.
void save(tls::session_cache const& sessions, std::string const& path)
{
    std::vector<std::byte> const bytes = sessions.save();
    ::umask(0077);
    std::ofstream file{path, std::ios::binary};
    file.write(reinterpret_cast<char const*>(bytes.data()), std::ssize(bytes));
    if (!file.flush())
        throw std::runtime_error{fmt::format("{} cannot be written", path)};
}

constexpr char const* usage =
    "--host example.org [--port 443] [--authorities ca.pem] [--sessions file]";

int main(int count, char** values)
{
    return example::run(count, values, usage, [](example::arguments const& given) {
        tls::context_spec spec;
        spec.role = tls::role::client;
        spec.verify = tls::peer_verification::required;
        std::string const authorities = given.value("--authorities", "");
        if (!authorities.empty())
            spec.verify_authorities = example::certificate(authorities).chain;
        spec.sessions = std::make_shared<tls::session_cache>();
        std::string const file = given.value("--sessions", "");
        if (std::string const saved = read_file(file); !saved.empty())
            if (auto const ec = spec.sessions->load(std::as_bytes(std::span{saved})))
                fmt::print(stderr, "{}: {}: begin without sessions\n", file, ec.message());
        tls::context context{spec};

        place const server{given.value("--host"), given.port("--port", "443")};
        for (int i = 0; i < 2; ++i) {
            asio::io_context io{1};
            std::future<void> done = asio::co_spawn(io, get(context, server), asio::use_future);
            io.run();
            done.get();
        }
        if (!file.empty())
            save(*spec.sessions, file);
    });
}
