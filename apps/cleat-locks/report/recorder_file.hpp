// recorder_file: where the recorders are, which become a part of other programs.

#pragma once

#include <filesystem>
#include <string_view>

namespace cleat::locks {

/// recorder_file is a recorder's file, beside this program: where it was installed, or in ../lib of
/// a build. Throws std::runtime_error where it is not there.
[[nodiscard]] std::filesystem::path recorder_file(std::string_view name);

} // namespace cleat::locks
