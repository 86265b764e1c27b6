#include "upstream_tls/tls_upstream.hpp"

#include <cleat/tls/session.hpp>

#include <new>
#include <utility>

namespace cleat::app {

bool tls_upstream::send(std::span<std::byte const> bytes, error_code& ec) noexcept
{
    net::channel::piece const pieces[] = {bytes};
    net::progress const p = channel.write(socket.entry(), pieces);
    ec = p.error;
    // As with a client: OpenSSL writes nothing while the peer has begun a KeyUpdate.
    if (!ec && p.bytes != bytes.size())
        ec = error::protocol_violation;
    return p.next == net::wait::writable;
}

bool tls_upstream::flush(error_code& ec) noexcept
{
    net::progress const p = channel.flush(socket.entry());
    ec = p.error;
    return p.next == net::wait::writable;
}

bool tls_upstream::close_send(error_code& ec) noexcept
{
    net::progress const p = channel.close(socket.entry());
    ec = p.error;
    return p.next == net::wait::writable;
}

net::progress tls_upstream::read(std::span<std::byte> block, std::size_t turn, bool ended) noexcept
{
    if (fault)
        return {.error = fault};
    net::progress const p = channel.read(socket.entry(), block, turn, ended);
    for (tls::session& each : channel.engine().take_sessions())
        sessions->keep(std::move(each));
    return p;
}

void send_first(tls_upstream& upstream, std::span<std::byte const> first)
{
    error_code ec;
    static_cast<void>(upstream.send(first, ec));
    if (is_out_of_resources(ec))
        throw std::bad_alloc{};
    if (ec == error::protocol_violation) // Not sent: what follows must not be the first.
        upstream.socket.reset();
}

} // namespace cleat::app
