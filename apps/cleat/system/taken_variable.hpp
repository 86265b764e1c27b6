// taken_variable: a variable of the environment that is for this process only.

#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace cleat::app {

/// take_variable removes the variable from the environment. No value: it is not set.
inline std::optional<std::string> take_variable(char const* name)
{
    char const* const value = ::getenv(name);
    if (value == nullptr)
        return std::nullopt;
    std::string taken = value;
    ::unsetenv(name);
    return taken;
}

} // namespace cleat::app
