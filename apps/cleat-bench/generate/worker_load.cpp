#include "generate/worker_load.hpp"

#include <cleat/core/assert.hpp>

namespace cleat::bench {

worker_load::worker_load(net::worker& worker, load_spec const& spec, share part)
    : worker_{worker}, spec_{spec}, part_{part}, random_{part.number + 1}
{
    counts_.interval_length = spec.interval;
    if (spec.early_data)
        counts_.early.emplace();
    std::vector<weighted_name> names = spec.names;
    if (names.empty())
        names.push_back({spec.tls.server_name, 1});
    for (weighted_name const& each : names) {
        tls::context_spec context = spec.tls;
        context.server_name = each.name;
        context.keep_sessions = spec.reuse.any();
        context.want_tickets = spec.reuse.by_ticket;
        identities_.push_back(std::make_unique<client_identity>(client_identity{
            tls::context{context}, session_pool{spec.reuse, part.number + 1}, each.weight}));
        weights_ += each.weight;
    }
}

client_identity& worker_load::choose_identity()
{
    if (identities_.size() == 1)
        return *identities_.front();
    unsigned left = std::uniform_int_distribution<unsigned>{0, weights_ - 1}(random_);
    for (std::unique_ptr<client_identity> const& each : identities_) {
        if (left < each->weight)
            return *each;
        left -= each->weight;
    }
    return *identities_.back();
}

net::address const* worker_load::next_source() noexcept
{
    if (spec_.sources.empty())
        return nullptr;
    // Workers begin at different addresses, so that a short run uses all of them too.
    return &spec_.sources[(part_.number + sources_used_++) % spec_.sources.size()];
}

bool worker_load::take_next(moment now) noexcept
{
    if (finished_ && std::holds_alternative<closed>(spec_.loop))
        return false;
    if (now >= last_ || (spec_.keep && transactions_left_ == 0))
        return false;
    if (spec_.keep && transactions_left_ != UINT64_MAX && is_counted(now))
        --transactions_left_;
    return true;
}

void worker_load::connection_ended() noexcept
{
    CLEAT_ASSERT(in_flight_ != 0);
    --in_flight_;
    after_connection();
}

} // namespace cleat::bench
