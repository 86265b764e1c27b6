// ticket_watch: records whether the ticket that a client offers could be opened. Not a public
// header.

#pragma once

#include <cleat/tls/handshake_info.hpp>

#include <cstdint>

struct ssl_st;

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

/// note_session_age: the ticket's session was made at this time, in seconds since 1970.
void note_session_age(std::uint64_t made) noexcept;

/// note_connection: the ticket is this connection's, which is null once the age is known. Until the
/// ticket_watch ends, connection_of_ticket is that. It is null where there is no ticket_watch.
void note_connection(ssl_st const* ssl) noexcept;
[[nodiscard]] ssl_st const* connection_of_ticket() noexcept;

/// noted_ticket is the ticket of this thread's ticket_watch; null where there is no ticket_watch.
[[nodiscard]] client_ticket const* noted_ticket() noexcept;

} // namespace cleat::tls
