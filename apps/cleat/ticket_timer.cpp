#include "client_side.hpp"
#include "ticket_timer.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/net/worker.hpp>

namespace cleat::app {

ticket_timer::ticket_timer(client_side& client) noexcept
    : deadline{&ticket_timer::on_expired}, client_{client}
{
}

void ticket_timer::begin()
{
    if (client_.channel.holds_records() && !client_.channel.unread())
        client_.socket.worker().arm(*this, limits::ticket_delay);
}

void ticket_timer::on_expired(deadline& d) noexcept
{
    client_side& client = static_cast<ticket_timer&>(d).client_;
    client.channel.flush_held(client.socket.entry());
}

} // namespace cleat::app
