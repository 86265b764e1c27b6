/* compiler: attributes and hints that several parts of the recorder use. */
#ifndef CLEAT_LOCKS_COMPILER_H
#define CLEAT_LOCKS_COMPILER_H

#define EXPORTED __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* On the way of every acquisition. */
#define ALWAYS_INLINE __attribute__((always_inline)) inline

#endif
