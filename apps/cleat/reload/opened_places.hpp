// opened_places: where a reload's configuration logs, listens and is administered.

#pragma once

#include "log/log_sink.hpp"
#include "process/admin_socket.hpp"
#include "reload/reload_request.hpp"
#include "snapshot/listening_place.hpp"
#include "snapshot/snapshot.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace cleat::app {

/// opened_places are closed again where the reload is refused; a log file that was made stays.
struct opened_places
{
    std::shared_ptr<log_sink> sink{};      ///< The present one, where it stays.
    bound_sockets sockets{};               ///< Its problems are moved away.
    std::shared_ptr<admin_socket> admin{}; ///< Null, too, where the address stays.
    std::unique_ptr<log_sink> access_sink{};
    bool keeps_access_log = false; ///< The present one stays.
};

/// open_places opens the places that the present configuration does not have. Each is tried,
/// whether or not one before it has failed: the problems have an error for each that fails. Only
/// the settings and the frontends of the configuration count, which may have other errors. Throws
/// std::bad_alloc, std::system_error.
[[nodiscard]] opened_places open_places(
    reload_request const& request, snapshot const& configuration, std::size_t workers,
    std::vector<problem>& problems);

} // namespace cleat::app
