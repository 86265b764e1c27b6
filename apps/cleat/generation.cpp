#include "generation.hpp"

#include <utility>

namespace cleat::app {

std::unique_ptr<generation> new_generation(
    std::unique_ptr<snapshot const> configuration, std::shared_ptr<log_sink> sink, logger log)
{
    auto made =
        std::make_unique<generation>(generation{std::move(configuration), std::move(sink), log});
    if (tls::certificate_store const* const store = made->configuration->catalog.store.get())
        made->supply = std::make_unique<tls::certificate_supply>(*store);
    return made;
}

} // namespace cleat::app
