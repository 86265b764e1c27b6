// transaction: the life of one connection of a load.

#pragma once

#include "generator.hpp"

namespace cleat::bench {

/// transact connects, shakes hands, asks, takes the answer, so many times, and closes. It was meant
/// to begin at `intended`; what that cost the server's user counts from there.
net::detached transact(generator& of, moment intended, unsigned requests);

} // namespace cleat::bench
