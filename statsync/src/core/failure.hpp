// failure: the exception of this library. It ends the work on one provider, and no other one's.

#pragma once

#include <stdexcept>
#include <string>

namespace statsync {

/// problem: the kind of a failure, which decides the program's exit code.
enum class problem
{
    settings,  ///< A setting is missing, unknown or makes no sense.
    unread,    ///< The database is not there, not reachable, or not what it should be.
    in_use,    ///< The player runs, or another program has the database open.
    changed,   ///< The database has changed since it was read.
    unwritten, ///< The database could not be written. It is as it was, unless the text says else.
};

/// failure: its text names the file or the setting, and never contains a password.
class failure : public std::runtime_error
{
public:
    failure(problem kind, std::string const& text) : std::runtime_error(text), kind_(kind) {}

    problem kind() const { return kind_; }

private:
    problem kind_;
};

} // namespace statsync
