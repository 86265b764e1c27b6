// watched_events: the changes in a folder that the kernel reports (inotify(7)).

#pragma once

#include <cstdint>

#include <sys/inotify.h>

namespace cleat::app {

/// watched_events: a file counts when it has been written and closed, or has got its name. A folder
/// that goes may come back under the same name.
inline constexpr std::uint32_t watched_events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
                                                IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                                IN_MOVE_SELF | IN_ONLYDIR;

} // namespace cleat::app
