// The callback that opens tickets finds the connection's place for the outcome as own_alert is
// found: by a thread_local pointer.

#include <cleat/tls/ticket_watch.hpp>

#include <algorithm>
#include <ctime>

namespace cleat::tls {
namespace {

constinit thread_local client_ticket* ticket_of_call = nullptr;
constinit thread_local ssl_st const* ssl_of_ticket = nullptr;

} // namespace

ticket_watch::ticket_watch(client_ticket& seen) noexcept
{
    ticket_of_call = &seen;
}

ticket_watch::~ticket_watch()
{
    ticket_of_call = nullptr;
    ssl_of_ticket = nullptr;
}

void note_ticket(client_ticket const& seen) noexcept
{
    if (ticket_of_call != nullptr)
        *ticket_of_call = seen;
}

// A session of a host whose clock is ahead is new here.
void note_session_age(std::uint64_t made) noexcept
{
    auto const now = static_cast<std::uint64_t>(std::time(nullptr));
    if (ticket_of_call != nullptr)
        ticket_of_call->age = static_cast<std::uint32_t>(now - std::min(made, now));
}

void note_connection(ssl_st const* ssl) noexcept
{
    if (ticket_of_call != nullptr)
        ssl_of_ticket = ssl;
}

ssl_st const* connection_of_ticket() noexcept
{
    return ssl_of_ticket;
}

client_ticket const* noted_ticket() noexcept
{
    return ticket_of_call;
}

} // namespace cleat::tls
