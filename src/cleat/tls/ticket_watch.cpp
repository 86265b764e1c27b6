// The callback that opens tickets finds the connection's place for the outcome as own_alert is
// found: by a thread_local pointer.

#include <cleat/tls/ticket_watch.hpp>

namespace cleat::tls {
namespace {

constinit thread_local client_ticket* ticket_of_call = nullptr;

} // namespace

ticket_watch::ticket_watch(client_ticket& seen) noexcept
{
    ticket_of_call = &seen;
}

ticket_watch::~ticket_watch()
{
    ticket_of_call = nullptr;
}

void note_ticket(client_ticket const& seen) noexcept
{
    if (ticket_of_call != nullptr)
        *ticket_of_call = seen;
}

client_ticket const* noted_ticket() noexcept
{
    return ticket_of_call;
}

} // namespace cleat::tls
