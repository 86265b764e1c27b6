// frontend_socket: what the connections share that came in by one address.

#pragma once

#include "counts/worker_counts.hpp"
#include "limits/client_scope.hpp"

#include <cleat/tls/context.hpp>

#include <cstddef>
#include <string>

namespace cleat::app {

class worker_service;
struct frontend_connections;
class worker_upstream;
struct frontend_plan;
struct tls_plan;

/// tls_policy is how a worker speaks TLS with the clients of a frontend, or of a route that has
/// settings of its own. The worker_service owns the context, and the snapshot the rest.
struct tls_policy
{
    tls::context const* context = nullptr;
    tls_plan const* plan = nullptr;
};

/// frontend_socket is one address of a frontend, in one configuration. It belongs to its worker's
/// thread. All addresses of a frontend share its policy.
struct frontend_socket
{
    worker_service& service;
    frontend_plan const& plan;
    tls_policy policy;        ///< Of clients that no route with other settings takes.
    std::string name;         ///< The address, as the log spells it.
    frontend_counts counts{}; ///< From worker_service::begin on, as is:
    worker_upstream* upstream = nullptr;
    frontend_connections* open = nullptr; ///< All addresses of the frontend share it.
    std::size_t connections_max = 0;      ///< On this worker.
    client_scope clients{};               ///< The limits of one client.
};

} // namespace cleat::app
