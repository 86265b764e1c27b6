#include "probe/features.hpp"
#include "probe/tolerance.hpp"
#include "wire/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cleat::bench {
namespace {

using std::chrono::milliseconds;
using wire::extension_type;

// How the bytes of a hello are sent.
struct sending
{
    std::size_t fragment_size = wire::fragment_max;
    std::size_t segment_size = std::size_t{1} << 20;
};

raw_answer ask(raw_client const& client, wire::client_hello const& hello, sending const& how = {})
{
    // Segments that follow at once may arrive as one.
    constexpr milliseconds between_segments{2};
    raw_answer answer;
    raw_visit visit{client.address(), std::min(client.timeout(), last_answer_time)};
    std::string const bytes = wire::records_of(hello, how.fragment_size);
    for (std::size_t sent = 0; sent < bytes.size(); sent += how.segment_size) {
        if (sent > 0 && visit.pause(between_segments))
            break;
        visit.send(std::string_view{bytes}.substr(sent, how.segment_size));
    }
    visit.read(answer, awaited::hello);
    return answer;
}

probed_answer judged(std::string name, raw_answer const& answer)
{
    return {
        std::move(name), answer.accepted(), answer.accepted() ? std::string{} : answer.refusal()};
}

// A hello as a client of today sends it, and short, so that it can be padded to any length.
wire::client_hello modern_hello(raw_client const& client, accepted_versions const& versions)
{
    constexpr std::uint16_t groups[] = {29, 23, 24, 25};
    constexpr std::size_t suites_max = 6;
    constexpr std::size_t schemes_max = 18;
    accepted_version const* const old = old_version(versions);
    suite_numbers suites;
    std::vector<std::uint16_t> offered;
    for (accepted_version const& each : versions) {
        if (each.version < wire::version::tls_1_3 && &each != old)
            continue;
        offered.push_back(static_cast<std::uint16_t>(each.version));
        std::span<std::uint16_t const> const some{each.suites};
        suites.insert(
            suites.end(), some.begin(),
            some.begin() + static_cast<std::ptrdiff_t>(std::min(some.size(), suites_max / 2)));
    }
    bool const recent = versions.front().version == wire::version::tls_1_3;
    wire::client_hello made =
        client.hello(old != nullptr ? old->version : wire::version::tls_1_2, suites, groups);
    std::erase_if(made.extensions, [](wire::extension const& each) {
        return each.type == static_cast<std::uint16_t>(extension_type::signature_algorithms);
    });
    if (versions.front().version >= wire::version::tls_1_2)
        made.extensions.push_back(
            wire::signature_algorithms(wire::signature_schemes().subspan(0, schemes_max)));
    if (recent) {
        made.extensions.push_back(wire::supported_versions(offered));
        made.extensions.push_back(wire::x25519_key_share());
    }
    return made;
}

// Values that nobody will register (RFC 8701), in each list.
void add_grease(wire::client_hello& hello)
{
    hello.suites.insert(hello.suites.begin(), 0x0a0a);
    for (wire::extension& each : hello.extensions) {
        bool const versions =
            each.type == static_cast<std::uint16_t>(extension_type::supported_versions);
        if (!versions &&
            each.type != static_cast<std::uint16_t>(extension_type::supported_groups) &&
            each.type != static_cast<std::uint16_t>(extension_type::signature_algorithms))
            continue;
        std::string const old = each.contents.substr(versions ? 1 : 2);
        each.contents = wire::sized("\x1a\x1a" + old, versions ? 1 : 2);
    }
    hello.extensions.insert(hello.extensions.begin(), wire::extension{std::uint16_t{0x2a2a}, {}});
    hello.extensions.push_back(wire::extension{std::uint16_t{0x3a3a}, std::string(1, '\0')});
}

void try_versions(
    std::vector<probed_answer>& found, raw_client const& client, accepted_versions const& versions,
    wire::client_hello const& modern)
{
    constexpr std::uint16_t tls_1_4 = 0x0305;
    if (wire::has_extension(modern, extension_type::supported_versions)) {
        wire::client_hello hello = modern;
        for (wire::extension& each : hello.extensions)
            if (each.type == static_cast<std::uint16_t>(extension_type::supported_versions)) {
                std::vector<std::uint16_t> more{tls_1_4};
                for (accepted_version const& known : versions)
                    more.push_back(static_cast<std::uint16_t>(known.version));
                each = wire::supported_versions(more);
            }
        found.push_back(judged("TLS 1.4 in supported_versions", ask(client, hello)));
    }
    accepted_version const* const old = old_version(versions);
    for (auto const& [name, number] :
         {std::pair{"TLS 1.3 as the legacy version", 0x0304},
          std::pair{"TLS 1.4 as the legacy version", 0x0305}}) {
        if (old == nullptr || old->version == wire::version::ssl_3_0) {
            found.push_back({name, {}, "the server accepts nothing before TLS 1.3"});
            continue;
        }
        wire::client_hello hello = client.hello(old->version, old->suites);
        hello.legacy_version = static_cast<std::uint16_t>(number);
        found.push_back(judged(name, ask(client, hello)));
    }
    wire::client_hello hello = modern;
    hello.record_version = static_cast<std::uint16_t>(wire::version::tls_1_2);
    found.push_back(judged("TLS 1.2 on the record", ask(client, hello)));
}

void try_lengths(
    std::vector<probed_answer>& found, raw_client const& client, wire::client_hello const& modern)
{
    for (std::size_t const size : {255U, 257U, 384U, 511U, 513U, 4096U, 16000U}) {
        wire::client_hello hello = modern;
        std::string name = fmt::format("a ClientHello of {} bytes", size);
        if (wire::pad_to(hello, size))
            found.push_back(judged(std::move(name), ask(client, hello)));
        else
            found.push_back({std::move(name), {}, "it is longer without padding"});
    }
}

} // namespace

std::vector<probed_answer> find_tolerance(raw_client& client, accepted_versions const& versions)
{
    if (versions.empty() || versions.front().version == wire::version::ssl_3_0)
        return {{"unusual ClientHellos", {}, "the server accepts no version with extensions"}};
    wire::client_hello const modern = modern_hello(client, versions);
    raw_answer const usual = client.ask(modern);
    if (!usual.accepted())
        return {
            {"unusual ClientHellos", {}, "the server refuses the usual one: " + usual.refusal()}};
    std::vector<probed_answer> found;
    wire::client_hello greased = modern;
    add_grease(greased);
    found.push_back(judged("GREASE", ask(client, greased)));
    try_versions(found, client, versions, modern);
    try_lengths(found, client, modern);
    found.push_back(
        judged("a ClientHello in records of 64 bytes", ask(client, modern, {.fragment_size = 64})));
    found.push_back(
        judged("a ClientHello in segments of 50 bytes", ask(client, modern, {.segment_size = 50})));
    return found;
}

} // namespace cleat::bench
