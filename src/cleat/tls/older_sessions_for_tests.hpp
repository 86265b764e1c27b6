// older_sessions_for_tests: a server that made its sessions long ago. A file of each backend
// defines it.

#pragma once

#include <cleat/tls/context.hpp>

#include <chrono>

namespace cleat::tls {

inline constexpr std::chrono::seconds older_by{1000};

/// make_sessions_older: the server's sessions, with their tickets, are older_by old when they are
/// new.
void make_sessions_older(context const& server);

} // namespace cleat::tls
