#include "probe/offers.hpp"

#include <algorithm>
#include <array>

namespace cleat::bench {
namespace {

// Some servers look at so many suites only, or refuse a long ClientHello.
constexpr std::size_t batch_size = 100;

bool chose(raw_answer const& answer, wire::version version)
{
    return answer.accepted() &&
           answer.flight.hello()->version == static_cast<std::uint16_t>(version);
}

// Moves what the server chooses from `offered` to `accepted`, until it refuses the rest.
void eliminate_suites(
    raw_client& client, wire::version version, suite_numbers& offered, suite_numbers& accepted)
{
    while (!offered.empty()) {
        raw_answer const answer = client.ask(client.hello(version, offered));
        if (!chose(answer, version) || std::erase(offered, answer.flight.hello()->suite) == 0)
            return;
        accepted.push_back(answer.flight.hello()->suite);
    }
}

void eliminate_in_batches(
    raw_client& client, wire::version version, std::span<std::uint16_t const> offered,
    suite_numbers& accepted)
{
    while (!offered.empty()) {
        auto const batch = offered.first(std::min(batch_size, offered.size()));
        suite_numbers rest{batch.begin(), batch.end()};
        eliminate_suites(client, version, rest, accepted);
        offered = offered.subspan(batch.size());
    }
}

bool authenticates_by_ecdsa(std::uint16_t number)
{
    wire::cipher_suite const* const known = wire::find_suite(number);
    return known != nullptr && wire::traits_of(*known).ecdsa;
}

// The group of the key exchange that the server wants.
std::optional<std::uint16_t> chosen_group(
    raw_client& client, wire::version version, std::span<std::uint16_t const> suites,
    std::span<std::uint16_t const> groups)
{
    bool const recent = version == wire::version::tls_1_3;
    raw_answer const answer = client.ask(
        client.hello(version, suites, groups), recent ? awaited::hello : awaited::flight);
    if (!chose(answer, version))
        return {};
    if (recent)
        return answer.flight.hello()->group;
    return answer.flight.exchange() ? answer.flight.exchange()->group : std::nullopt;
}

} // namespace

std::span<std::uint16_t const> suites_of(
    accepted_versions const& versions, wire::version version) noexcept
{
    auto const found = std::ranges::find(versions, version, &accepted_version::version);
    return found == versions.end() ? std::span<std::uint16_t const>{} : found->suites;
}

suite_numbers accepted_suites(raw_client& client, wire::version version)
{
    suite_numbers rest = all_suites(version);
    suite_numbers accepted;
    eliminate_suites(client, version, rest, accepted);
    if (version == wire::version::tls_1_3)
        return accepted;
    // A server with several certificates may choose that with an ECDSA key for any client that
    // offers a suite for it, also one that it does not have.
    auto const others = std::ranges::stable_partition(rest, authenticates_by_ecdsa);
    eliminate_in_batches(client, version, {rest.begin(), others.begin()}, accepted);
    eliminate_in_batches(client, version, {others.begin(), others.end()}, accepted);
    return accepted;
}

// Offers two suites in both orders: if the client's order decides, the choice changes. Not with
// ChaCha20, which servers prefer for clients without AES in hardware.
chooser order_of(raw_client& client, wire::version version, std::span<std::uint16_t const> accepted)
{
    suite_numbers pair;
    for (std::uint16_t const each : accepted)
        if (wire::find_suite(each)->iana.find("CHACHA20") == std::string_view::npos &&
            pair.size() < 2)
            pair.push_back(each);
    if (pair.size() < 2)
        return chooser::unknown;
    raw_answer const one = client.ask(client.hello(version, pair));
    std::ranges::reverse(pair);
    raw_answer const other = client.ask(client.hello(version, pair));
    if (!one.accepted() || !other.accepted())
        return chooser::unknown;
    return one.flight.hello()->suite == other.flight.hello()->suite ? chooser::server
                                                                    : chooser::client;
}

group_numbers accepted_groups(
    raw_client& client, wire::version version, std::span<std::uint16_t const> accepted)
{
    bool const recent = version == wire::version::tls_1_3;
    suite_numbers const suites = recent ? suite_numbers{accepted.begin(), accepted.end()}
                                        : suites_with(accepted, &wire::suite_traits::ecdhe);
    group_numbers found;
    if (suites.empty())
        return found;
    group_numbers rest = all_groups(version);
    auto const eliminate = [&](group_numbers const& certificate_curves) {
        while (!rest.empty()) {
            group_numbers offered = rest;
            offered.insert(offered.end(), certificate_curves.begin(), certificate_curves.end());
            auto const chosen = chosen_group(client, version, suites, offered);
            if (!chosen || std::erase(rest, *chosen) == 0)
                return;
            found.push_back(*chosen);
        }
    };
    eliminate({});
    if (recent)
        return found;
    // In TLS 1.2 the groups are also the curves that a certificate may be on (RFC 8422, section
    // 5.1.1), so without that of its certificate the server refuses the rest.
    constexpr std::array<std::uint16_t, 3> curves{23, 24, 25};
    for (std::uint16_t const each : curves)
        if (std::ranges::count(found, each) > 0)
            eliminate({each});
    return found;
}

suite_numbers suites_with(std::span<std::uint16_t const> suites, bool wire::suite_traits::*trait)
{
    suite_numbers found;
    for (std::uint16_t const each : suites)
        if (wire::cipher_suite const* const known = wire::find_suite(each);
            known != nullptr && wire::traits_of(*known).*trait)
            found.push_back(each);
    return found;
}

} // namespace cleat::bench
