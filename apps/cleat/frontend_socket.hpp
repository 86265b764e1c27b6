// frontend_socket: a listening socket of one worker, with the TLS context of its connections.

#pragma once

#include "snapshot.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <string>

namespace cleat::app {

/// bound_socket is a listening socket on its way to the worker that will accept from it.
struct bound_socket
{
    unique_fd socket;
    listener_plan const* plan = nullptr; ///< Never null in use; of the snapshot.
    /// The worker's, where the plan's certificates are in the store; else null.
    tls::certificate_table* certificates = nullptr;
};

/// frontend_socket belongs to its worker's thread, and is made there, since TLS contexts are.
struct frontend_socket
{
    /// Throws tls::spec_error or std::system_error when it cannot be had.
    frontend_socket(net::worker& worker, bound_socket bound);

    net::entry_ptr entry;
    tls::context context;
    net::interrupt interrupt; ///< Ends the accepting.
    std::string name;         ///< Its address, as the log spells it.
};

} // namespace cleat::app
