// folder_rule: which files of a folder of certificates count. Not a public header.

#pragma once

#include <string>

#include <fnmatch.h>

namespace cleat::tls {

/// is_certificate_name: a file of that name in a folder counts. A name that begins with a dot never
/// does. The glob is one of fnmatch(3); empty: all others do.
[[nodiscard]] inline bool is_certificate_name(std::string const& name, std::string const& glob)
{
    return name.front() != '.' && (glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0);
}

} // namespace cleat::tls
