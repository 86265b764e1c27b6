#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {

certificate_table::certificate_table(certificate_store const& store, std::size_t capacity)
    : store_{store}
    , capacity_{std::max<std::size_t>(capacity, 1)}
    , library_{std::make_unique<backend::library_state>()}
{
}

certificate_table::~certificate_table() = default;

certificate const* certificate_table::find(number wanted) noexcept
{
    auto const found = places_.find(wanted);
    if (found == places_.end())
        return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->value.get();
}

void certificate_table::insert(number added, loaded certificate)
{
    std::list<row> front; // Throws before anything has changed.
    front.push_back({added, std::move(certificate)});
    if (!places_.try_emplace(added, front.begin()).second)
        return;
    by_use_.splice(by_use_.begin(), front);
    if (places_.size() <= capacity_)
        return;
    places_.erase(by_use_.back().id);
    by_use_.pop_back();
}

} // namespace cleat::tls
