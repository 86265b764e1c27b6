#include "relay/plain_client.hpp"

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>

#include <algorithm>

namespace cleat::app {

// After the event that reports the FIN no other event comes for the bytes before it.
net::progress plain_client::read(std::span<std::byte> block, std::size_t turn, bool ended) noexcept
{
    std::span<std::byte> const room = block.first(std::min(block.size(), turn));
    net::io_result const r = socket.receive(room);
    if (r.would_block)
        return {.next = net::wait::readable};
    bool const is_drained = !ended && r.bytes < room.size();
    return {
        .next = is_drained ? net::wait::readable : net::wait::none,
        .bytes = r.bytes,
        .on_wire = r.bytes,
        .error = r.error};
}

net::progress plain_client::write(std::span<std::byte const> bytes) noexcept
{
    net::io_result const r = socket.send(bytes);
    if (r.error)
        return {.error = r.error};
    if (r.bytes == bytes.size())
        return {.bytes = bytes.size()};
    if (!unsent.append(bytes.subspan(r.bytes), limits::unsent_max))
        return {.error = make_error_code(boost::system::errc::not_enough_memory)};
    return {.next = net::wait::writable, .bytes = bytes.size()};
}

net::progress plain_client::splice(scratch_pipe& pipe) noexcept
{
    net::io_result const r = pipe.send(socket);
    if (r.error)
        return {.error = r.error};
    if (pipe.empty())
        return {};
    if (!pipe.copy_rest(unsent))
        return {.error = make_error_code(boost::system::errc::not_enough_memory)};
    return {.next = net::wait::writable};
}

net::progress plain_client::flush() noexcept
{
    net::io_result const r = socket.send(unsent.front());
    if (r.error)
        return {.error = r.error};
    unsent.consume(r.bytes);
    return {.next = unsent.empty() ? net::wait::none : net::wait::writable};
}

} // namespace cleat::app
