// perf-echo-asio: the echo server on asio::ssl::stream, and on Beast's stream for a WebSocket.

#include "echo_server.hpp"

#include <openssl/crypto.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket/ssl.hpp>

namespace {

struct library
{
    using context = boost::asio::ssl::context;
    using stream = boost::asio::ssl::stream<perf::tcp::socket>;
    // asio::ssl::stream would send a frame's header and its content in two records.
    using websocket_layer = boost::beast::ssl_stream<perf::tcp::socket>;

    static void set_tickets(context& c, bool wanted)
    {
        SSL_CTX_set_num_tickets(c.native_handle(), wanted ? 1 : 0);
    }
};

} // namespace

int main(int argc, char** argv)
{
    return perf::main_of(argc, argv, OpenSSL_version(OPENSSL_VERSION), perf::run<library>);
}
