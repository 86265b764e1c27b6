#include "worker_service.hpp"

namespace cleat::app {

worker_service::worker_service(net::worker& worker, snapshot const& configuration, logger log)
    : worker_{worker}, configuration_{configuration}, log_{log}, upstream_queue_{worker}
{
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
