// --hosts: which options each host gets, and which are this machine's.

#include "commands/load_options.hpp"
#include "system/files.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

// The result, what is made of it, and the view of it are this machine's.
constexpr std::array<std::string_view, 9> result_options{
    "json", "html", "name", "fail-if", "baseline", "tolerance", "junit", "csv", "prometheus"};

// Beside these: each host gets a seed of its own.
constexpr std::array<std::string_view, 6> own_options{"hosts",   "ssh",   "ssh-timeout",
                                                      "as-host", "quiet", "seed"};

// A host gets a copy of such a file.
constexpr std::array<std::string_view, 4> file_options{"ca", "cert", "key", "raw-file"};

template <std::size_t Size>
bool contains(std::array<std::string_view, Size> const& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

} // namespace

void load_options::check_hosts() const
{
    auto const refuse = [&](std::string_view option, std::string_view why) {
        if (given(std::string{option}))
            refuse_usage(fmt::format("{}: has no effect here: {}", option, why));
    };
    if (hosts.empty()) {
        refuse("--ssh", "it is for --hosts; leave it out");
        refuse("--ssh-timeout", "it is for --hosts; leave it out");
    } else {
        refuse("--as-host", "this machine leads the hosts; leave it out");
        refuse("--start-at", "the hosts begin together by themselves; leave it out");
        refuse("--server-pid", "the load is made elsewhere; leave it out");
    }
    if (!as_host)
        return;
    refuse("--start-at", "the start comes over standard input; leave it out");
    for (std::string_view const each : result_options)
        refuse(fmt::format("--{}", each), "the result goes to standard output; leave it out");
}

std::vector<std::string> load_options::arguments_for_hosts(std::vector<sent_file>& files) const
{
    std::vector<std::string> found;
    for (CLI::Option const* const each : app_->get_options()) {
        if (each->count() == 0 || each->get_lnames().empty())
            continue;
        std::string const option = each->get_lnames().front();
        if (contains(result_options, option) || contains(own_options, option))
            continue;
        bool const is_flag = each->get_items_expected_max() == 0;
        for (std::string value : each->results()) {
            if (contains(file_options, option)) {
                std::string const sent = fmt::format("file-{}", files.size() + 1);
                files.push_back({sent, read_file(value)});
                value = sent;
            }
            found.push_back(
                is_flag && value == "true" ? "--" + option : fmt::format("--{}={}", option, value));
        }
    }
    found.push_back(target);
    return found;
}

hosts_request load_options::make_hosts() const
{
    hosts_request found;
    found.hosts = parse_hosts(hosts);
    try {
        found.ssh = split_words(ssh);
    } catch (std::runtime_error const& e) {
        refuse_usage(fmt::format("--ssh: {}", e.what()));
    }
    if (found.ssh.empty())
        refuse_usage("--ssh: the program is missing: write 'ssh', with its options");
    auto const patience = parse_length(ssh_timeout);
    if (!patience || *patience < 100ms || *patience > 1h)
        refuse_usage(fmt::format("--ssh-timeout {}: from 100ms to 1h", ssh_timeout));
    found.patience = std::chrono::ceil<std::chrono::milliseconds>(*patience);
    found.arguments = arguments_for_hosts(found.files);
    if (arrivals == "poisson")
        found.seed = seed;
    return found;
}

} // namespace cleat::bench
