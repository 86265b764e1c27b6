// The frame of the C++ blocks of docs/guides/library.md: test_blocks.py puts a block where a
// comment names its first words, and compiles the whole.

// The first program comes before all other includes, so that it is known to have its own. It leaves
// open only where its certificate comes from, and when it ends.
extern char const* chain_pem;
extern char const* key_pem;
void wait_for_signal();

// block: #include <cleat/net/server.hpp>

#include <cleat/net/ssl.hpp>
#include <cleat/net/stream.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/session_cache.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <iostream>
#include <memory>
#include <string_view>

namespace tls = cleat::tls;
using asio::ip::tcp;

namespace drop_in {

// block: namespace ssl = cleat::net::ssl;

void replace_context(std::shared_ptr<ssl::context>& present)
{
    // block: auto next = std::make_shared<ssl::context>
}

void verify_server(asio::io_context& io)
{
    // block: ssl::context context{ssl::context::tls_client};
}

} // namespace drop_in

namespace server_operations {

// block: using namespace asio::experimental::awaitable_operators;

} // namespace server_operations

namespace server_settings {

asio::awaitable<void> serve(net::connection c);

void listen(
    net::server_spec spec, tls::context_spec internal_tls, tls::context_spec renewed_internal_tls)
{
    // block: spec.listen = "*:443";
}

void set_tickets(net::server_spec& spec)
{
    // block: spec.tls.tickets = tls::new_ticket_secret();
}

void reload(
    net::server& server, std::string const& new_chain_pem, std::string const& new_key_pem,
    std::shared_ptr<tls::ticket_secret const> secret)
{
    // block: tls::context_spec next;
}

void name_certificates(net::server_spec& spec)
{
    // block: spec.tls.certificate_store = {
}

asio::awaitable<void> answer(
    net::connection c, std::string_view head, std::string_view row, std::string_view tail)
{
    // block: std::array<asio::const_buffer, 3> const answer{
}

} // namespace server_settings

namespace own_io_context {

tls::context_spec read_spec();

// block: asio::awaitable<void> serve(tcp::socket socket

} // namespace own_io_context

namespace clients {

asio::awaitable<void> connect(asio::io_context& io, tcp::resolver::results_type found)
{
    // block: tls::context_spec spec;
}

} // namespace clients

namespace worker_state {

struct page_cache
{
};
asio::awaitable<void> serve(net::connection c, page_cache& cache);

void start(net::server_spec spec)
{
    // block: net::server server{std::move(spec), net::handler_for{
}

} // namespace worker_state
