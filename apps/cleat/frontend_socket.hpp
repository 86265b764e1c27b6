// frontend_socket: what the connections share that came in by one address.

#pragma once

#include "worker_counts.hpp"

#include <cleat/tls/context.hpp>

#include <string>

namespace cleat::app {

class worker_service;
class worker_upstream;
struct frontend_plan;

/// frontend_socket is one address of a frontend, in one configuration. It belongs to its worker's
/// thread. All addresses of a frontend share its context.
struct frontend_socket
{
    worker_service& service;
    frontend_plan const& plan;
    tls::context const& context;
    std::string name;         ///< The address, as the log spells it.
    frontend_counts counts{}; ///< From worker_service::begin on, as is:
    worker_upstream* upstream = nullptr;
};

} // namespace cleat::app
