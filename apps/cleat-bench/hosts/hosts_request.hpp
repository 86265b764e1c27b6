// hosts_request: the machines that run one load together, and how they are reached.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleat::bench {

/// host_address is a machine of --hosts, as ssh is asked for it.
struct host_address
{
    std::string name;        ///< As it was written: "user@c:2222".
    std::string destination; ///< "user@c".
    std::string port;        ///< Empty: ssh's own choice.
};

/// sent_file is a file of this machine that the hosts get for the run.
struct sent_file
{
    std::string name; ///< In the host's temporary folder.
    std::string contents;
};

/// hosts_request is what --hosts and its options ask for.
struct hosts_request
{
    std::vector<host_address> hosts;
    std::vector<std::string> ssh;       ///< The program and its options.
    std::chrono::milliseconds patience; ///< For each step of a host before the start.
    std::vector<std::string> arguments; ///< Of `cleat-bench load` on each host, the target last.
    std::vector<sent_file> files;       ///< That these arguments name.
    /// Of the first host; each host has a seed of its own, one more than the host's before it.
    /// Unset: nothing is random.
    std::optional<std::uint64_t> seed;
};

/// parse_hosts reads "a,user@b,c:2222,[fe80::1]:22". Throws usage_error that names the mistake.
[[nodiscard]] std::vector<host_address> parse_hosts(std::string_view text);

} // namespace cleat::bench
