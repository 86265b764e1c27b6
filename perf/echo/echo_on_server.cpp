// perf-echo-server: the echo server as a handler of net::server, with one worker.

#include "echo_server.hpp"

#include <cleat/net/server.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace {

namespace asio = boost::asio;
namespace net = cleat::net;

std::string text_of(std::string const& path)
{
    std::ifstream file{path};
    if (!file)
        throw std::runtime_error{path + " cannot be read"};
    return {std::istreambuf_iterator<char>{file}, {}};
}

asio::awaitable<void> serve(net::connection c, perf::echo_options const& use)
{
    if (use.websocket)
        co_await perf::echo_messages(std::move(c.stream));
    else
        co_await perf::echo(c.stream, use.block_size);
}

void run(perf::echo_options const& use)
{
    net::server_spec spec;
    spec.listen = use.listen;
    std::string const pem = text_of(use.pem);
    spec.tls.certificates.push_back({pem, pem, use.pem});
    if (use.tickets)
        spec.tls.tickets = cleat::tls::new_ticket_secret();
    spec.workers = 1;
    spec.pin = false; // Its caller has chosen the core, as it does for the others.
    asio::io_context signals_only{1};
    asio::signal_set signals{signals_only, SIGTERM, SIGINT};
    signals.async_wait([](boost::system::error_code, int) {});
    net::server server{
        std::move(spec), [&use](net::connection c) { return serve(std::move(c), use); }};
    std::printf("ready 127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    signals_only.run();
}

} // namespace

int main(int argc, char** argv)
{
    return perf::main_of(argc, argv, cleat::tls::library_version(), run);
}
