#include "probe/chain.hpp"

namespace cleat::bench {

bool in_order(std::span<tls::shown_certificate const> chain) noexcept
{
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
        if (chain[i].issuer != chain[i + 1].subject)
            return false;
    return true;
}

} // namespace cleat::bench
