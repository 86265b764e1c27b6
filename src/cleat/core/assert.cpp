#include <cleat/core/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace cleat::detail {

void assert_failed(char const* promise, char const* file, int line) noexcept
{
    std::fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
    std::abort();
}

} // namespace cleat::detail
