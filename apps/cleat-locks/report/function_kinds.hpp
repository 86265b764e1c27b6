// function_kinds: which functions take locks, count references, or only pass a call on.

#pragma once

#include <string_view>

namespace cleat::locks {

/// is_lock_function and is_reference_count classify a function by its name alone.
[[nodiscard]] bool is_lock_function(std::string_view name);
[[nodiscard]] bool is_reference_count(std::string_view name);

/// is_wrapper classifies a function that only passes the call on to the lock: of the C++ library,
/// of libc, or of the layer between them.
[[nodiscard]] bool is_wrapper(std::string_view name);

} // namespace cleat::locks
