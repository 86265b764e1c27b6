#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// A test allocates more memory than there is: with these options the sanitizers return null, as the
// heap does. Without sanitizers these functions are not called.
extern "C" char const* __asan_default_options() // NOLINT: the sanitizer's name
{
    return "allocator_may_return_null=1";
}

extern "C" char const* __tsan_default_options() // NOLINT: the sanitizer's name
{
    return "allocator_may_return_null=1";
}
