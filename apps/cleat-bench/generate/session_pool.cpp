#include "generate/session_pool.hpp"

#include <utility>

namespace cleat::bench {

std::optional<session_pool::held> session_pool::take()
{
    if (!policy_.any() || pool_.empty())
        return std::nullopt;
    if (policy_.ratio && std::uniform_real_distribution<double>{}(random_) >= *policy_.ratio)
        return std::nullopt;
    held chosen = std::move(pool_.front());
    pool_.pop_front();
    // With a ratio, a session that serves many stays for the connections beside this one.
    if (policy_.ratio && !chosen.session.single_use())
        keep(chosen);
    return chosen;
}

void session_pool::give_back(
    std::optional<held> offered, bool resumed, std::vector<tls::session> given)
{
    if (!policy_.any())
        return;
    unsigned const uses = offered && resumed ? offered->uses + 1 : 1;
    if (policy_.ratio) {
        // Every ticket that is given is one more resumption to come.
        for (tls::session& each : given)
            keep({std::move(each), uses});
        return;
    }
    if (uses >= policy_.per_session)
        return; // This chain is used up: the next connection is a full handshake.
    if (!given.empty())
        keep({std::move(given.back()), uses});
    else if (offered && resumed && !offered->session.single_use())
        keep({std::move(offered->session), uses});
}

void session_pool::keep(held session)
{
    if (pool_.size() == size_max)
        pool_.pop_front();
    pool_.push_back(std::move(session));
}

} // namespace cleat::bench
