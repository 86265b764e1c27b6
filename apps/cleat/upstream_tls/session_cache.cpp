#include "upstream_tls/session_cache.hpp"

#include <algorithm>
#include <utility>

namespace cleat::app {

void session_cache::keep(tls::session issued) noexcept
{
    sessions_[next_] = std::move(issued);
    next_ = (next_ + 1) % sessions_.size();
    size_ = std::min(size_ + 1, sessions_.size());
}

tls::session session_cache::take() noexcept
{
    if (size_ == 0)
        return {};
    std::size_t const newest = (next_ + sessions_.size() - 1) % sessions_.size();
    if (!sessions_[newest].single_use())
        return sessions_[newest];
    next_ = newest;
    --size_;
    return std::exchange(sessions_[newest], {});
}

} // namespace cleat::app
