// ticket_watch: records whether the ticket that a client offers could be opened. Not a public
// header.

#pragma once

#include <cleat/tls/handshake_info.hpp>

namespace cleat::tls {

/// ticket_watch keeps the last ticket that ticket_keys has looked up on this thread while it lives.
/// There is one at a time on a thread.
class ticket_watch
{
public:
    /// `seen` outlives it, and stays as it is where no ticket is looked up.
    explicit ticket_watch(client_ticket& seen) noexcept;
    ticket_watch(ticket_watch&&) = delete;
    ~ticket_watch();
};

/// note_ticket gives the ticket to this thread's ticket_watch, if there is one.
void note_ticket(client_ticket const& seen) noexcept;

/// noted_ticket is the ticket of this thread's ticket_watch; null where there is no ticket_watch.
[[nodiscard]] client_ticket const* noted_ticket() noexcept;

} // namespace cleat::tls
