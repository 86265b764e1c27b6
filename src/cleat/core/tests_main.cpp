#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// A test asks for more memory than there is: the sanitizers are to say no as the heap does. Without
// them nobody calls these.
extern "C" char const* __asan_default_options() // NOLINT: the sanitizer's name
{
    return "allocator_may_return_null=1";
}

extern "C" char const* __tsan_default_options() // NOLINT: the sanitizer's name
{
    return "allocator_may_return_null=1";
}
