#include "relay/ticket_timer.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker.hpp>

namespace cleat::app {

ticket_timer::ticket_timer(net::socket& socket, net::channel& channel) noexcept
    : deadline{&ticket_timer::on_expired}, socket_{socket}, channel_{channel}
{
}

void ticket_timer::begin()
{
    if (channel_.holds_records() && !channel_.unread())
        socket_.worker().arm(*this, limits::ticket_delay);
}

void ticket_timer::on_expired(deadline& d) noexcept
{
    ticket_timer& self = static_cast<ticket_timer&>(d);
    self.channel_.flush_held(self.socket_.entry());
}

} // namespace cleat::app
