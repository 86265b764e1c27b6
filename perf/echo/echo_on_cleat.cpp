// perf-echo-cleat: the echo server on cleat's drop-in stream.

#include "echo_server.hpp"

#include <cleat/net/ssl.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_secret.hpp>

namespace {

struct library
{
    using context = cleat::net::ssl::context;
    using stream = cleat::net::ssl::stream<perf::tcp::socket>;
    using websocket_layer = stream;

    static void set_tickets(context& c, bool wanted)
    {
        if (wanted)
            c.spec().tickets = cleat::tls::new_ticket_secret();
    }
};

} // namespace

int main(int argc, char** argv)
{
    return perf::main_of(argc, argv, cleat::tls::library_version(), perf::run<library>);
}
