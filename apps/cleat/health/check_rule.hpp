// check_rule: how the servers of an upstream are checked.

#pragma once

#include <chrono>
#include <string>

namespace cleat::app {

/// check_rule is an upstream's. A check connects, sends `send` and reads until the answer contains
/// `expect`; each only where it is not empty.
struct check_rule
{
    bool is_on = false;
    std::chrono::milliseconds interval{2000}; ///< From the beginning of a check to the next one's.
    std::chrono::milliseconds timeout{1000};  ///< For each address of the server.
    unsigned rise = 1;                        ///< So many that pass bring a server back.
    unsigned fall = 2;                        ///< So many in a row that fail take it out.
    std::string send{};
    std::string expect{};

    friend bool operator==(check_rule const&, check_rule const&) = default;
};

} // namespace cleat::app
