#include "relay/upstream_side.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/socket_options.hpp>

namespace cleat::app {

bool upstream_side::send(std::span<std::byte const> bytes, error_code& ec) noexcept
{
    if (sends++ == 1)
        net::set_no_delay(socket.native_handle());
    net::io_result const r = socket.send(bytes);
    ec = r.error;
    if (r.error || r.bytes == bytes.size())
        return false;
    if (!unsent.append(bytes.subspan(r.bytes), limits::unsent_max))
        ec = make_error_code(boost::system::errc::not_enough_memory);
    return true;
}

bool upstream_side::splice(scratch_pipe& pipe, error_code& ec) noexcept
{
    if (sends++ == 1)
        net::set_no_delay(socket.native_handle());
    ec = pipe.send(socket).error;
    if (ec || pipe.empty())
        return false;
    if (!pipe.copy_rest(unsent))
        ec = make_error_code(boost::system::errc::not_enough_memory);
    return true;
}

bool upstream_side::flush(error_code& ec) noexcept
{
    if (sends++ == 1)
        net::set_no_delay(socket.native_handle());
    net::io_result const r = socket.send(unsent.front());
    ec = r.error;
    unsent.consume(r.bytes);
    return !unsent.empty();
}

} // namespace cleat::app
