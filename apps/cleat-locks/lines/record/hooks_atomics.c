/* hooks_atomics: the calls that -fsanitize=thread makes of the program's atomic operations. All are
 * sequentially consistent here, which is never weaker than what the program asked for.
 */
#include "accesses.h"

#define EXPORTED __attribute__((visibility("default")))

#define READ_AND_CHANGE(bits, type, name, builtin)                                                 \
    EXPORTED type __tsan_atomic##bits##_##name(type volatile* place, type value, int order);       \
    type __tsan_atomic##bits##_##name(type volatile* place, type value, int order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        note_access((uintptr_t)place, sizeof(type), true, SITE);                                   \
        return builtin(place, value, __ATOMIC_SEQ_CST);                                            \
    }

#define COMPARE_AND_EXCHANGE(bits, type, name)                                                     \
    EXPORTED int __tsan_atomic##bits##_compare_exchange_##name(                                    \
        type volatile* place, type* expected, type value, int order, int failure);                 \
    int __tsan_atomic##bits##_compare_exchange_##name(                                             \
        type volatile* place, type* expected, type value, int order, int failure)                  \
    {                                                                                              \
        (void)order, (void)failure;                                                                \
        note_access((uintptr_t)place, sizeof(type), true, SITE);                                   \
        return __atomic_compare_exchange_n(                                                        \
            place, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
    }

#define ATOMICS(bits, type)                                                                        \
    EXPORTED type __tsan_atomic##bits##_load(type const volatile* place, int order);               \
    type __tsan_atomic##bits##_load(type const volatile* place, int order)                         \
    {                                                                                              \
        (void)order;                                                                               \
        note_access((uintptr_t)place, sizeof(type), false, SITE);                                  \
        return __atomic_load_n(place, __ATOMIC_SEQ_CST);                                           \
    }                                                                                              \
    EXPORTED void __tsan_atomic##bits##_store(type volatile* place, type value, int order);        \
    void __tsan_atomic##bits##_store(type volatile* place, type value, int order)                  \
    {                                                                                              \
        (void)order;                                                                               \
        note_access((uintptr_t)place, sizeof(type), true, SITE);                                   \
        __atomic_store_n(place, value, __ATOMIC_SEQ_CST);                                          \
    }                                                                                              \
    READ_AND_CHANGE(bits, type, exchange, __atomic_exchange_n)                                     \
    READ_AND_CHANGE(bits, type, fetch_add, __atomic_fetch_add)                                     \
    READ_AND_CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                                     \
    READ_AND_CHANGE(bits, type, fetch_and, __atomic_fetch_and)                                     \
    READ_AND_CHANGE(bits, type, fetch_or, __atomic_fetch_or)                                       \
    READ_AND_CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                                     \
    READ_AND_CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                                   \
    COMPARE_AND_EXCHANGE(bits, type, strong)                                                       \
    COMPARE_AND_EXCHANGE(bits, type, weak)                                                         \
    EXPORTED type __tsan_atomic##bits##_compare_exchange_val(                                      \
        type volatile* place, type expected, type value, int order, int failure);                  \
    type __tsan_atomic##bits##_compare_exchange_val(                                               \
        type volatile* place, type expected, type value, int order, int failure)                   \
    {                                                                                              \
        (void)order, (void)failure;                                                                \
        note_access((uintptr_t)place, sizeof(type), true, SITE);                                   \
        __atomic_compare_exchange_n(                                                               \
            place, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
        return expected;                                                                           \
    }

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

EXPORTED void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

EXPORTED void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
