#include "worker/worker_connections.hpp"

namespace cleat::app {

void worker_connections::on_close(close_reason why) noexcept
{
    counts_.closed.add(why);
    wave_.on_fall(--open_);
    if (draining_ && open_ == 0)
        worker_.stop();
}

void worker_connections::stop_after_last() noexcept
{
    draining_ = true;
    if (open_ == 0)
        worker_.stop();
}

} // namespace cleat::app
