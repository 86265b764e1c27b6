#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {

certificate_table::certificate_table(std::size_t capacity)
    : capacity_{std::max<std::size_t>(capacity, 1)}
    , library_{std::make_unique<backend::library_state>()}
{
}

certificate_table::~certificate_table() = default;

void certificate_table::leave_thread() const noexcept
{
    library_->leave_thread();
}

certificate const* certificate_table::find(file_digest const& wanted) noexcept
{
    auto const found = places_.find(wanted);
    if (found == places_.end())
        return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->value.get();
}

void certificate_table::insert(file_digest const& digest, loaded certificate)
{
    std::list<row> front; // Throws before anything has changed.
    front.push_back({digest, std::move(certificate)});
    if (!places_.try_emplace(digest, front.begin()).second)
        return;
    by_use_.splice(by_use_.begin(), front);
    if (places_.size() > capacity_)
        drop_last();
}

void certificate_table::drop_last() noexcept
{
    places_.erase(by_use_.back().digest);
    by_use_.pop_back();
}

void certificate_table::set_capacity(std::size_t capacity) noexcept
{
    capacity_ = std::max<std::size_t>(capacity, 1);
    while (places_.size() > capacity_)
        drop_last();
}

void certificate_table::clear() noexcept
{
    places_.clear();
    by_use_.clear();
}

} // namespace cleat::tls
