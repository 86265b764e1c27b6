#include "generate/worker_load.hpp"

#include <cleat/core/assert.hpp>

namespace cleat::bench {

worker_load::worker_load(net::worker& worker, load_spec const& spec, share part)
    : worker_{worker}, spec_{spec}, part_{part}, random_{part.number + 1}
{
    counts_.interval_length = spec.interval;
    if (spec.early_data)
        counts_.early.emplace();
    if (spec.websocket)
        counts_.websocket.emplace().use = spec.websocket->use;
    if (spec.http2)
        counts_.http2.emplace().streams = spec.http2->streams;
    for (weighted_request const& each : spec.exchange.by_path) {
        counts_.paths.push_back({.path = each.path});
        path_weights_ += each.weight;
    }
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

std::size_t worker_load::choose_path()
{
    if (path_weights_ == 0)
        return 0;
    unsigned left = std::uniform_int_distribution<unsigned>{0, path_weights_ - 1}(random_);
    std::size_t number = 0;
    for (weighted_request const& each : spec_.exchange.by_path) {
        if (left < each.weight)
            break;
        left -= each.weight;
        ++number;
    }
    return number;
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
