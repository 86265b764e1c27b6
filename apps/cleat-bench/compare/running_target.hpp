// running_target: a server that runs already, and that a comparison neither starts nor ends.

#pragma once

#include <cleat/net/socket_options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// running_target is such a server. Certificate, TLS and workers are its own.
struct running_target
{
    std::string text; ///< HOST:PORT, as it was written.
    net::address address;
    std::string server_name; ///< For SNI; an address sends none.
    std::string host;        ///< The value of a request's Host.
    std::vector<int> pids;   ///< Its process, whose CPU and memory are measured; empty: not known.
};

/// parse_running_target reads "HOST:PORT" and "HOST:PORT,pid=PID", and looks the name up. Throws
/// std::runtime_error that says what is wrong with the text; unreachable where the name has no
/// address.
[[nodiscard]] running_target parse_running_target(std::string_view text);

} // namespace cleat::bench
