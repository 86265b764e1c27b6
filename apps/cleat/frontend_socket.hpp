// frontend_socket: what the connections share that came in by one address.

#pragma once

#include "worker_counts.hpp"

#include <cleat/tls/context.hpp>

#include <string>

namespace cleat::app {

class worker_service;

/// frontend_socket is one address of a frontend, in one configuration. It belongs to its worker's
/// thread. All addresses of a frontend share its context.
struct frontend_socket
{
    worker_service& service;
    tls::context const& context;
    std::string name; ///< The address, as the log spells it.
    frontend_counts counts{};
};

} // namespace cleat::app
