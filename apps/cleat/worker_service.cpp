#include "worker_service.hpp"

namespace cleat::app {

worker_service::worker_service(
    net::worker& worker, snapshot const& configuration, logger log, tls::certificate_supply* supply)
    : worker_{worker}, configuration_{configuration}, log_{log}, upstream_queue_{worker}
{
    if (supply != nullptr)
        certificates_ = std::make_unique<worker_certificates>(
            worker, *supply, *configuration.catalog.store,
            static_cast<std::size_t>(*configuration.settings.certificate_cache));
}

void worker_service::on_close(close_reason why) noexcept
{
    closed_.add(why);
    --connections_;
    if (draining_ && connections_ == 0)
        worker_.stop();
}

void worker_service::stop_after_last_connection() noexcept
{
    draining_ = true;
    if (connections_ == 0)
        worker_.stop();
}

} // namespace cleat::app
