#include "probe/raw_client.hpp"

#include <algorithm>
#include <utility>

namespace cleat::bench {

std::vector<std::uint16_t> all_groups(wire::version version)
{
    std::vector<std::uint16_t> found;
    for (wire::named_group const& each : wire::named_groups())
        if (version == wire::version::tls_1_3 || !each.post_quantum)
            found.push_back(each.number);
    return found;
}

std::vector<std::uint16_t> all_suites(wire::version version)
{
    std::vector<std::uint16_t> found;
    for (wire::cipher_suite const& each : wire::cipher_suites())
        if (wire::traits_of(each).tls_1_3 == (version == wire::version::tls_1_3))
            found.push_back(each.number);
    return found;
}

wire::client_hello raw_client::hello(
    wire::version version, std::span<std::uint16_t const> suites,
    std::span<std::uint16_t const> groups) const
{
    wire::client_hello made;
    made.suites.assign(suites.begin(), suites.end());
    if (version == wire::version::ssl_3_0) {
        made.legacy_version = made.record_version = static_cast<std::uint16_t>(version);
        made.suites.push_back(wire::renegotiation_scsv);
        return made;
    }
    if (!name_.empty())
        made.extensions.push_back(wire::server_name(name_));
    made.extensions.push_back(wire::supported_groups(groups));
    made.extensions.push_back(wire::ec_point_formats());
    if (version >= wire::version::tls_1_2)
        made.extensions.push_back(wire::signature_algorithms(wire::signature_schemes()));
    if (version == wire::version::tls_1_3) {
        constexpr std::uint16_t only[] = {static_cast<std::uint16_t>(wire::version::tls_1_3)};
        made.session_id.assign(32, 's'); // RFC 8446, appendix D.4.
        made.extensions.push_back(wire::supported_versions(only));
        constexpr std::uint16_t x25519 = 29;
        bool const shares = shares_key_ && std::ranges::count(groups, x25519) > 0;
        made.extensions.push_back(shares ? wire::x25519_key_share() : wire::no_key_share());
        return made;
    }
    made.legacy_version = static_cast<std::uint16_t>(version);
    made.extensions.push_back(wire::renegotiation_info());
    return made;
}

wire::client_hello raw_client::hello(
    wire::version version, std::span<std::uint16_t const> suites) const
{
    return hello(version, suites, all_groups(version));
}

raw_answer raw_client::ask(wire::client_hello const& hello, awaited end)
{
    raw_answer answer;
    if (gave_up())
        return answer;
    raw_visit visit{address_, timeout_};
    visit.send(wire::records_of(hello));
    visit.read(answer, end);
    if (answer.ending == raw_ending::not_connected || answer.ending == raw_ending::silent)
        ++unanswered_;
    return answer;
}

} // namespace cleat::bench
