#include "connection/receive_hello.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/socket_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cleat::app {
namespace {

using status = tls::client_hello_reader::status;

// Each reading takes at most as much as an engine's, so the queue holds less than unsent_max.
error_code take(std::span<std::byte const> bytes, received_hello& hello)
{
    if (!hello.bytes.append(bytes, limits::unsent_max))
        return make_error_code(boost::system::errc::not_enough_memory);
    hello.status =
        hello.reader.read({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
    return hello.status == status::too_long ? error_code{error::hello_too_long} : error_code{};
}

} // namespace

net::task<error_code> receive_hello(
    net::interrupt& interrupt, half_open_list& list, net::socket& socket, received_hello& hello)
{
    half_open unfinished{list, interrupt};
    for (;;) {
        std::span<std::byte> const block =
            net::scratch::of_this_thread().received().first(limits::turn_min);
        net::io_result const r = socket.receive(block);
        if (r.error == error::closed)
            co_return error_code{};
        if (r.error)
            co_return r.error;
        if (r.bytes != 0) {
            unfinished.on_input();
            error_code const ec = take(block.first(r.bytes), hello);
            if (ec || hello.status != status::incomplete)
                co_return ec;
            // A client with Nagle's algorithm may hold the rest until this part is acknowledged.
            net::acknowledge_now(socket.native_handle());
        }
        net::interest const readable{&socket.entry(), true, false};
        error_code const interrupted = co_await net::ready{interrupt, readable};
        if (interrupted)
            co_return interrupted;
    }
}

} // namespace cleat::app
