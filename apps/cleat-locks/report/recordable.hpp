// recordable: whether a program can be recorded, by its file.

#pragma once

#include <filesystem>
#include <string>

namespace cleat::locks {

/// why_not_recorded says why a program cannot be recorded, as far as its file shows; empty: no
/// reason is known.
[[nodiscard]] std::string why_not_recorded(std::filesystem::path const& program);

} // namespace cleat::locks
