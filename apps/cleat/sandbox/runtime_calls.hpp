// runtime_calls: system calls that the language's runtime makes by itself in a confined process. A
// sanitizer's runtime makes more than any other: it has a file of its own.

#pragma once

namespace cleat::app {

/// allow_runtime_calls adds them to a seccomp filter. It returns libseccomp's error, or 0.
[[nodiscard]] int allow_runtime_calls(void* filter) noexcept;

} // namespace cleat::app
