#include <cleat/core/assert.hpp>
#include <cleat/tls/server_sessions.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {

void server_sessions::keep(session issued) noexcept
{
    sessions_[next_] = std::move(issued);
    next_ = (next_ + 1) % sessions_.size();
    size_ = std::min(size_ + 1, sessions_.size());
}

session server_sessions::take() noexcept
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

void server_sessions::drop(session const& failed) noexcept
{
    std::size_t const room = sessions_.size();
    auto const from_newest = [&](std::size_t age) -> session& {
        return sessions_[(next_ + room - 1 - age) % room];
    };
    std::size_t age = 0;
    while (age != size_ && from_newest(age).native_handle() != failed.native_handle())
        ++age;
    if (age == size_)
        return;
    for (; age != 0; --age)
        from_newest(age) = std::move(from_newest(age - 1));
    next_ = (next_ + room - 1) % room;
    --size_;
    sessions_[next_] = {};
}

session const& server_sessions::by_age(std::size_t age) const noexcept
{
    CLEAT_ASSERT(age < size_);
    return sessions_[(next_ + sessions_.size() - 1 - age) % sessions_.size()];
}

} // namespace cleat::tls
