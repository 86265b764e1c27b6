// wiped_ticket_secret: the memory of a ticket secret. Not a public header.

#pragma once

#include <cleat/tls/context_spec.hpp>

namespace cleat::tls {

/// wiped_ticket_secret is a secret whose destructor wipes it.
struct wiped_ticket_secret
{
    wiped_ticket_secret() = default;
    wiped_ticket_secret(wiped_ticket_secret const&) = delete;
    wiped_ticket_secret& operator=(wiped_ticket_secret const&) = delete;
    ~wiped_ticket_secret();

    ticket_secret secret{};
};

} // namespace cleat::tls
