#include "worker/worker_connections.hpp"

#include <cleat/core/limits.hpp>

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

void worker_connections::bound_sessions(
    std::size_t sessions_max, std::chrono::seconds lifetime) noexcept
{
    sessions_max_ = sessions_max;
    session_lifetime_ = lifetime;
    if (sessions_ != nullptr)
        sessions_->cache().bound(sessions_max, lifetime);
    follow_sessions(memory_level::normal);
}

void worker_connections::follow(memory_share share) noexcept
{
    memory_level const before = memory_.level();
    bool const ends_stalled = memory_.follow(share);
    follow_sessions(before);
    if (share.level == memory_level::normal)
        return;
    half_open_.evict(limits::evicted_at_once, worker_.now());
    if (ends_stalled)
        stalled_.evict(limits::stalled_at_once, worker_.now());
}

// Each level shortens the cache once, when it begins, so that a short shortage costs few sessions.
void worker_connections::follow_sessions(memory_level before) noexcept
{
    memory_level const now = memory_.level();
    if (sessions_ == nullptr || now == before)
        return;
    tls::session_id_cache& cache = sessions_->cache();
    if (now == memory_level::normal)
        cache.bound(sessions_max_, session_lifetime_);
    else if (now > before)
        cache.bound( // With no place at all it would not ask other workers, either.
            std::max<std::size_t>(1, cache.size() / (now == memory_level::full ? 2 : 1)),
            session_lifetime_);
}

} // namespace cleat::app
