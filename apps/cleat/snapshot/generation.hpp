// generation: a configuration in service.

#pragma once

#include "access/access_log.hpp"
#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "process/admin_socket.hpp"
#include "snapshot/snapshot.hpp"
#include "upstream/server_counts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cleat::app {

/// generation is a configuration, from the start or the reload that made it until the last
/// connection that began with it has ended. The main thread owns it; workers read it.
struct generation
{
    std::unique_ptr<snapshot> configuration; ///< Changed by drop_texts only.
    std::shared_ptr<log_sink> sink;          ///< Generations with the same log share it.
    logger log;
    /// The socket of the admin server; null: there is none. Generations share it like the sink. The
    /// main thread closes it when another one replaces it.
    std::shared_ptr<admin_socket> admin{};
    std::shared_ptr<access_log> access{}; ///< Null: there is none. Shared like the sink.
    std::size_t workers = 0;              ///< How many still serve it.
    std::int64_t ticket_epoch = -1;       ///< To which its ratchets have moved on.
    /// Of its upstreams' servers. Generations with the same server share its counts.
    std::vector<std::shared_ptr<counts_by_worker>> server_counts{};
};

} // namespace cleat::app
