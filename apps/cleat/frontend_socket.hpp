// frontend_socket: what the connections of one listening socket of a worker share.

#pragma once

#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <string>

namespace cleat::app {

/// bound_socket is a listening socket on its way to the worker that will accept from it.
struct bound_socket
{
    unique_fd socket;
    frontend_plan const* plan = nullptr; ///< Never null in use; of the snapshot.
    /// The worker's, where the plan's certificates are in the store; else null.
    tls::certificate_table* certificates = nullptr;
};

/// frontend_socket belongs to its worker's thread, and is made there, since TLS contexts are.
struct frontend_socket
{
    /// Throws tls::spec_error.
    explicit frontend_socket(bound_socket const& bound);

    tls::context context;
    std::string name; ///< The socket's address, as the log spells it.
};

} // namespace cleat::app
