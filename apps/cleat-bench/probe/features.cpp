#include "probe/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cleat::bench {
namespace {

using wire::extension_type;

bool answered_with(raw_answer const& answer, extension_type type)
{
    return answer.accepted() &&
           answer.flight.hello()->extensions.contains(static_cast<std::uint16_t>(type));
}

// The answer to a feature that the server's hello shows, or why it is not known.
probed_answer seen(
    std::string_view name, raw_answer const& answer, bool yes, std::string_view if_yes,
    std::string_view if_no)
{
    if (!answer.accepted())
        return {std::string{name}, {}, "the server refused the question: " + answer.refusal()};
    return {std::string{name}, yes, std::string{yes ? if_yes : if_no}};
}

probed_answer find_fallback_signal(raw_client& client, accepted_versions const& versions)
{
    constexpr int inappropriate_fallback = 86;
    std::string const name = feature_name::fallback_signal;
    if (versions.size() < 2)
        return {name, {}, "the server accepts one version only"};
    accepted_version const& lower = versions[1];
    suite_numbers suites = lower.suites;
    suites.push_back(wire::fallback_scsv);
    raw_answer const answer = client.ask(client.hello(lower.version, suites));
    if (answer.accepted())
        return {
            name, false,
            fmt::format("no: a fallback to {} is not noticed", wire::name_of(lower.version))};
    if (!answer.flight.alert())
        return {name, {}, "the server refused the question: " + answer.refusal()};
    bool const right = answer.flight.alert()->description == inappropriate_fallback;
    return {name, true, right ? "yes" : fmt::format("yes, but with {}", answer.refusal())};
}

// All features that need no suite of their own, with one hello.
void find_common_features(
    std::vector<probed_answer>& found, raw_client& client, accepted_version const& old)
{
    wire::client_hello hello = client.hello(old.version, old.suites);
    hello.extensions.push_back(wire::empty_extension(extension_type::extended_master_secret));
    hello.extensions.push_back(wire::heartbeat());
    hello.extensions.push_back(wire::empty_extension(extension_type::next_protocol));
    hello.extensions.push_back(wire::status_request());
    raw_answer const answer = client.ask(hello, awaited::flight);
    found.push_back(seen(
        feature_name::secure_renegotiation, answer,
        answered_with(answer, extension_type::renegotiation_info), "secure (RFC 5746)",
        "not secure: no renegotiation_info (RFC 5746)"));
    found.push_back(seen(
        feature_name::extended_master_secret, answer,
        answered_with(answer, extension_type::extended_master_secret), "extended (RFC 7627)",
        "not extended (RFC 7627)"));
    found.push_back(seen(
        "heartbeat", answer, answered_with(answer, extension_type::heartbeat), "accepted", "no"));
    found.push_back(
        seen("NPN", answer, answered_with(answer, extension_type::next_protocol), "offered", "no"));
    found.push_back(seen(
        feature_name::staple, answer, answer.flight.has_staple(), "a response is stapled", "no"));
    if (!answer.flight.complete() && !answer.flight.has_staple())
        found.back() = {
            feature_name::staple, {}, "the flight is not complete: " + answer.refusal()};
}

probed_answer find_compression(raw_client& client, accepted_version const& old)
{
    wire::client_hello hello = client.hello(old.version, old.suites);
    hello.compressions = std::string{"\x01\x40\x00", 3}; // DEFLATE, LZS, none.
    raw_answer const answer = client.ask(hello);
    return seen(
        feature_name::compression, answer,
        answer.accepted() && answer.flight.hello()->compression != 0, "accepted", "no");
}

probed_answer find_encrypt_then_mac(raw_client& client, accepted_version const& old)
{
    suite_numbers const cbc = suites_with(old.suites, &wire::suite_traits::cbc);
    if (cbc.empty())
        return {"encrypt-then-MAC", {}, "the server accepts no CBC suite"};
    wire::client_hello hello = client.hello(old.version, cbc);
    hello.extensions.push_back(wire::empty_extension(extension_type::encrypt_then_mac));
    raw_answer const answer = client.ask(hello);
    return seen(
        "encrypt-then-MAC", answer, answered_with(answer, extension_type::encrypt_then_mac),
        "yes (RFC 7366)", "no (RFC 7366)");
}

} // namespace

accepted_version const* old_version(accepted_versions const& versions) noexcept
{
    auto const found = std::ranges::find_if(versions, [](accepted_version const& each) {
        return each.version < wire::version::tls_1_3;
    });
    return found == versions.end() ? nullptr : &*found;
}

std::vector<probed_answer> find_features(raw_client& client, accepted_versions const& versions)
{
    std::vector<probed_answer> found{find_fallback_signal(client, versions)};
    accepted_version const* const old = old_version(versions);
    if (old == nullptr || old->version == wire::version::ssl_3_0) {
        std::string const why =
            old == nullptr ? "the server accepts TLS 1.3 only" : "the server accepts SSL 3.0 only";
        for (char const* const name :
             {feature_name::secure_renegotiation, feature_name::extended_master_secret, "heartbeat",
              "NPN", feature_name::staple, feature_name::compression, "encrypt-then-MAC"})
            found.push_back({name, {}, why});
        return found;
    }
    find_common_features(found, client, *old);
    found.push_back(find_compression(client, *old));
    found.push_back(find_encrypt_then_mac(client, *old));
    return found;
}

} // namespace cleat::bench
