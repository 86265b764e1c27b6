// frontend_socket: what the connections share that came in by one address.

#pragma once

#include "worker_counts.hpp"

#include <cleat/tls/context.hpp>

#include <cstddef>
#include <string>

namespace cleat::app {

class worker_service;
struct frontend_connections;
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
    frontend_connections* open = nullptr; ///< All addresses of the frontend share it.
    std::size_t connections_max = 0;      ///< On this worker.
};

} // namespace cleat::app
