// transaction: the life of one connection of a load.

#pragma once

#include "generate/generator.hpp"

namespace cleat::bench {

/// transact connects, shakes hands, asks, takes the answer, so many times, and closes. It was meant
/// to begin at `intended`; what that cost the server's user counts from there.
net::detached transact(generator& of, moment intended, unsigned requests);

/// keep_asking keeps one connection and asks on it, once in every stretch of `every` from `begun`
/// on, at a random moment that the seed repeats. A connection that broke is opened anew for the
/// next request, which waits for that. The alarm is the connection's own.
net::detached keep_asking(
    generator& of, alarm bell, moment begun, std::chrono::nanoseconds every, std::uint64_t seed);

} // namespace cleat::bench
