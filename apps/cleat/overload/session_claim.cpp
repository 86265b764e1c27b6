#include "overload/session_claim.hpp"

#include <cleat/tls/ticket_keys.hpp>

#include <algorithm>

namespace cleat::app {

session_claim claim_of(
    tls::hello_facts const& hello, tls::context const& server,
    tls::session_id_cache const* sessions) noexcept
{
    if (!hello.ticket.empty())
        return tls::has_ticket_key(server, hello.ticket) ? session_claim::here
                                                         : session_claim::none;
    tls::session_id id{};
    if (sessions == nullptr || hello.session_id.size() != id.size())
        return session_claim::none;
    std::ranges::copy(hello.session_id, id.begin());
    if (sessions->is_elsewhere(id))
        return session_claim::elsewhere;
    bool const is_here = !sessions->find(id, tls::session_id_cache::clock::now()).empty();
    return is_here ? session_claim::here : session_claim::none;
}

} // namespace cleat::app
