#include "resolver/dns_values.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>

#include <netdb.h>

namespace cleat::app {
namespace {

std::set<std::string> distinct_texts(std::vector<net::address> const& addresses)
{
    std::set<std::string> texts;
    for (net::address const& each : addresses)
        texts.insert(net::to_string(each));
    return texts;
}

} // namespace

// As getaddrinfo() reads numbers: also 127.1, and fe80::1%eth0.
bool is_name(std::string const& host) noexcept
{
    std::string_view const text = host;
    if (text == "localhost" || text.ends_with(".localhost"))
        return false;
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* found = nullptr;
    int const failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    std::unique_ptr<addrinfo, void (*)(addrinfo*)> const owner{
        failure == 0 ? found : nullptr, ::freeaddrinfo};
    return failure != 0;
}

bool has_same_addresses(
    std::vector<net::address> const& one, std::vector<net::address> const& other)
{
    return distinct_texts(one) == distinct_texts(other);
}

bool have_same_targets(std::vector<dns_target> const& one, std::vector<dns_target> const& other)
{
    return std::ranges::is_permutation(one, other, [](dns_target const& a, dns_target const& b) {
        return a.name == b.name && a.weight == b.weight && a.is_backup == b.is_backup &&
               has_same_addresses(a.addresses, b.addresses);
    });
}

} // namespace cleat::app
