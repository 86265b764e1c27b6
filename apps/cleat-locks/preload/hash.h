/* hash: the hash of the recorder's tables. */
#ifndef CLEAT_LOCKS_HASH_H
#define CLEAT_LOCKS_HASH_H

#include <stdint.h>

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

#endif
