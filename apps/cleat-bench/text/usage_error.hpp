// usage_error: a command line that makes no sense.

#pragma once

#include <stdexcept>
#include <string>

namespace cleat::bench {

/// usage_error is found after the command line was read, with the files that it names. The program
/// ends with code 2, as for any other wrong command line.
struct usage_error : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

[[noreturn]] inline void refuse_usage(std::string const& text)
{
    throw usage_error{text};
}

} // namespace cleat::bench
