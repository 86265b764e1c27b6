#include "overload/signature_cost.hpp"

#include <cleat/tls/certificates/certificate_choice.hpp>

namespace cleat::app {

// A client that is refused for its server's name costs no signature.
signature_cost cost_of(tls::hello_facts const& hello, tls::context const& server) noexcept
{
    tls::certificate_choice const* const choice = server.choice();
    if (choice == nullptr)
        return signature_cost::low;
    return choice->type_for(hello.server_name, hello.offer) == tls::key_type::rsa
               ? signature_cost::high
               : signature_cost::low;
}

} // namespace cleat::app
