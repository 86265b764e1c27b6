#include "accept.hpp"
#include "worker_service.hpp"

#include <utility>

namespace cleat::app {

worker_service::acceptor::acceptor(net::worker& on, unique_fd socket, tls::context_spec const& spec)
    : entry{new net::readiness::entry{
          on.readiness(), std::move(socket), net::readiness::entry::trigger::level}}
    , context{spec}
    , by{on}
{
    entry->set_priority(net::priority::handshake);
    if (result<net::address> const here = net::local_address(entry->fd()))
        name = net::to_string(*here);
}

worker_service::worker_service(
    net::worker& on, snapshot const& use, std::vector<listening> from, logger log)
    : on_{on}, use_{use}, log_{log}, line_{on}
{
    for (listening& l : from)
        acceptors_.push_back(std::make_unique<acceptor>(on, std::move(l.socket), l.plan->tls));
}

worker_service::~worker_service() = default;

void worker_service::start()
{
    for (std::unique_ptr<acceptor> const& from : acceptors_)
        accept_from(*this, *from);
}

void worker_service::drain() noexcept
{
    if (draining_)
        return;
    for (std::unique_ptr<acceptor> const& from : acceptors_) {
        from->by.raise(error::stopped);
        accept_waiting(*this, *from);
        from->entry->close(); // The kernel sends new connections to nobody instead of to us.
    }
    // Only now may the end of a connection be the end of the worker.
    draining_ = true;
    if (connections_ == 0)
        on_.stop();
}

void worker_service::on_close(close_reason why) noexcept
{
    closed_.add(why);
    --connections_;
    if (draining_ && connections_ == 0)
        on_.stop();
}

} // namespace cleat::app
