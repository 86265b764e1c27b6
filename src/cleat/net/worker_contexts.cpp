#include <cleat/net/worker_contexts.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace cleat::net {

counted_context::counted_context(tls::context_spec const& spec)
    : counted_context{tls::context{spec}, {}}
{
}

counted_context::counted_context(tls::context made, store_use certificates)
    : store{std::move(certificates)}, context{std::move(made)}
{
    on_none_left = [](tls::engine_count& count) noexcept {
        counted_context& self = static_cast<counted_context&>(count);
        self.owner->free_if_replaced(self);
    };
    context.count_engines(*this);
}

worker_contexts::worker_contexts(std::list<counted_context>&& first) noexcept
    : all_{std::move(first)}
{
    all_.front().owner = this;
    take_store();
}

void worker_contexts::replace(std::list<counted_context>&& next, reload_number number) noexcept
{
    if (number < taken_.load(std::memory_order_relaxed))
        return; // Two threads have called reload, and this is the earlier call.
    next.front().owner = this;
    all_.splice(all_.begin(), next);
    take_store();
    free_if_replaced(*std::next(all_.begin()));
    taken_.store(number);
    taken_.notify_all();
}

void worker_contexts::take_store() noexcept
{
    store_use const& present = all_.front().store;
    if (present.loaded != nullptr) {
        loaded_ = present.loaded;
        loaded_->renew(present.cache);
    } else if (loaded_ != nullptr) {
        loaded_->clear();
    }
}

void worker_contexts::end() noexcept
{
    if (loaded_ != nullptr)
        loaded_->end();
    taken_.store(none_follows);
    taken_.notify_all();
}

void worker_contexts::wait_for(reload_number number) const noexcept
{
    for (reload_number seen = taken_.load(); seen < number; seen = taken_.load())
        taken_.wait(seen);
}

void worker_contexts::free_if_replaced(counted_context& unused) noexcept
{
    if (unused.engines != 0 || &unused == &all_.front())
        return;
    all_.erase(std::ranges::find_if(
        all_, [&unused](counted_context const& each) { return &each == &unused; }));
}

context_delivery::context_delivery(
    worker_contexts& receiver, std::list<counted_context>&& delivered,
    worker_contexts::reload_number reload)
    : target{receiver}, made{std::move(delivered)}, number{reload}
{
    made.front().context.leave_thread(); // The worker uses and frees it.
    finish = [](task_node& node, bool run) {
        std::unique_ptr<context_delivery> const self{static_cast<context_delivery*>(&node)};
        if (run)
            self->target.replace(std::move(self->made), self->number);
    };
}

} // namespace cleat::net
