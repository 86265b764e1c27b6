// attach: what can be told of a process that runs already.

#pragma once

#include <string>

namespace cleat::locks {

/// attach_request is a process, and for how long to sample it.
struct attach_request
{
    int pid = 0;
    double seconds = 10;
};

/// attach_text samples where the process's threads wait, and says why their locks cannot be
/// recorded. Throws std::runtime_error where there is no such process, or the kernel does not allow
/// that.
[[nodiscard]] std::string attach_text(attach_request const& request);

} // namespace cleat::locks
