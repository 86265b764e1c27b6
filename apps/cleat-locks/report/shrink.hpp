// shrink: the disk space of traces whose processes have ended.

#pragma once

#include <filesystem>

namespace cleat::locks {

/// shrink_ended gives back the parts of traces in a folder that nothing was written to. A process
/// does so itself at its end, unless it was killed, or other threads still ran. Traces of processes
/// that run are left alone.
void shrink_ended(std::filesystem::path const& folder);

} // namespace cleat::locks
