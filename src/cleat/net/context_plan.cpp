#include <cleat/net/context_plan.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <string>
#include <utility>

namespace cleat::net {

context_plan::context_plan(tls::context_spec spec, std::size_t workers, context_plan const* before)
    : spec_{std::move(spec)}
{
    if (!has_store())
        return;
    certificates_ =
        tls::read_collection(spec_, before != nullptr ? before->certificates_.get() : nullptr);
    if (before != nullptr && can_follow(*before))
        before_ = before;
    else
        try_out();
    tls::prove_changes(spec_, *certificates_);
    kept_.resize(workers);
}

bool context_plan::can_follow(context_plan const& before) const
{
    // The system's authorities are files: new contexts read them again.
    return !before.kept_.empty() && !spec_.verify_system_authorities &&
           tls::is_same_policy(before.spec_, spec_) &&
           certificates_->set.can_follow(before.certificates_->set);
}

void context_plan::try_out() const
{
    tls::certificate_table loaded{1};
    tls::context const trial{spec_, certificates_->set, loaded};
    if (spec_.certificate_store->on_warning)
        for (std::string const& finding : trial.warnings())
            spec_.certificate_store->on_warning(finding);
}

std::list<counted_context> context_plan::make(std::size_t worker, store_loading* loading)
{
    std::list<counted_context> made;
    if (!has_store()) {
        made.emplace_back(spec_);
        return made;
    }
    tls::certificate_set const& set = certificates_->set;
    worker_certificates& loaded = *loading->by_worker[worker];
    tls::context context = before_ != nullptr ? tls::context{*before_->kept_[worker], set}
                                              : tls::context{spec_, set, loaded.table()};
    kept_[worker].emplace(context, set);
    made.emplace_back(std::move(context), store_use{certificates_, &loaded, cache()});
    return made;
}

void context_plan::finish() noexcept
{
    before_ = nullptr;
    if (!has_store())
        return;
    spec_.certificate_store->on_warning = {};
    // Two functions cannot be compared, so no plan follows; and the contexts have copies.
    if (std::exchange(spec_.verify_function, {}))
        kept_.clear();
}

} // namespace cleat::net
