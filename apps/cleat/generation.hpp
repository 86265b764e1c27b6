// generation: a configuration in service.

#pragma once

#include "log/log.hpp"
#include "log/log_sink.hpp"
#include "snapshot.hpp"

#include <cleat/tls/store/certificate_supply.hpp>

#include <cstddef>
#include <memory>

namespace cleat::app {

/// generation is a configuration, from the start or the reload that made it until the last
/// connection that began with it has ended. The main thread owns it; workers read it.
struct generation
{
    std::unique_ptr<snapshot const> configuration;
    std::shared_ptr<log_sink> sink; ///< Generations with the same log share it.
    logger log;
    std::unique_ptr<tls::certificate_supply> supply{}; ///< Null: all certificates are loaded.
    std::size_t workers = 0;                           ///< How many still serve it.
};

/// new_generation starts the supply of a configuration that has a certificate store. Throws
/// std::system_error.
[[nodiscard]] std::unique_ptr<generation> new_generation(
    std::unique_ptr<snapshot const> configuration, std::shared_ptr<log_sink> sink, logger log);

} // namespace cleat::app
