// CLEAT_ASSERT: a promise between programmers, checked in every build.

#pragma once

namespace cleat::detail {

/// assert_failed prints the broken promise and its place in the source to stderr, and aborts.
[[noreturn]] void assert_failed(char const* promise, char const* file, int line) noexcept;

} // namespace cleat::detail

/// CLEAT_ASSERT aborts when the promise is broken. For what a programmer promised only: what a
/// peer, a file or the kernel decides is handled with error_code.
#define CLEAT_ASSERT(promise)                                                                      \
    (static_cast<bool>(promise) ? static_cast<void>(0)                                             \
                                : ::cleat::detail::assert_failed(#promise, __FILE__, __LINE__))
