#include "wire/bytes.hpp"
#include "wire/client_hello.hpp"

#include <algorithm>
#include <utility>

namespace cleat::bench::wire {
namespace {

constexpr char client_hello_type = 1;
constexpr std::size_t random_size = 32;

std::string extensions_of(client_hello const& hello)
{
    std::string made;
    for (extension const& each : hello.extensions)
        made += number(each.type, 2) + sized(each.contents, 2);
    return made;
}

} // namespace

extension server_name(std::string_view name)
{
    return {extension_type::server_name, sized(number(0, 1) + sized(name, 2), 2)};
}

extension supported_groups(std::span<std::uint16_t const> groups)
{
    return {extension_type::supported_groups, sized(list(groups), 2)};
}

extension ec_point_formats()
{
    return {extension_type::ec_point_formats, sized(number(0, 1), 1)};
}

extension signature_algorithms(std::span<std::uint16_t const> schemes)
{
    return {extension_type::signature_algorithms, sized(list(schemes), 2)};
}

extension supported_versions(std::span<std::uint16_t const> offered)
{
    return {extension_type::supported_versions, sized(list(offered), 1)};
}

extension no_key_share()
{
    return {extension_type::key_share, sized({}, 2)};
}

extension x25519_key_share()
{
    constexpr std::size_t x25519 = 29;
    return {extension_type::key_share, sized(number(x25519, 2) + sized(std::string(32, 9), 2), 2)};
}

extension alpn(std::span<std::string const> protocols)
{
    std::string names;
    for (std::string const& each : protocols)
        names += sized(each, 1);
    return {extension_type::alpn, sized(names, 2)};
}

extension heartbeat()
{
    constexpr std::size_t peer_allowed_to_send = 1;
    return {extension_type::heartbeat, number(peer_allowed_to_send, 1)};
}

extension status_request()
{
    constexpr std::size_t ocsp = 1;
    return {extension_type::status_request, number(ocsp, 1) + sized({}, 2) + sized({}, 2)};
}

extension session_ticket(std::string_view ticket)
{
    return {extension_type::session_ticket, std::string{ticket}};
}

extension padding(std::size_t size)
{
    return {extension_type::padding, std::string(size, '\0')};
}

extension empty_extension(extension_type type)
{
    return {type, {}};
}

extension renegotiation_info()
{
    return {extension_type::renegotiation_info, sized({}, 1)};
}

bool has_extension(client_hello const& hello, extension_type type) noexcept
{
    return std::ranges::any_of(hello.extensions, [&](extension const& each) {
        return each.type == static_cast<std::uint16_t>(type);
    });
}

std::string message_of(client_hello const& hello)
{
    std::string body = number(hello.legacy_version, 2);
    body.append(random_size, 'c'); // No handshake completes, so it need not be random.
    body += sized(hello.session_id, 1);
    body += sized(list(hello.suites), 2);
    body += sized(hello.compressions, 1);
    // SSL 3.0 knows no extensions: a list of them without one is left out.
    if (!hello.extensions.empty())
        body += sized(extensions_of(hello), 2);
    return client_hello_type + sized(body, 3);
}

bool pad_to(client_hello& hello, std::size_t message_size)
{
    constexpr std::size_t header = 4;
    std::size_t const now = message_of(hello).size();
    if (now + header > message_size)
        return false;
    hello.extensions.push_back(padding(message_size - now - header));
    return true;
}

std::string record(record_type type, std::uint16_t record_version, std::string_view contents)
{
    return number(static_cast<std::size_t>(type), 1) + number(record_version, 2) +
           sized(contents, 2);
}

std::string records_of(client_hello const& hello, std::size_t fragment_size)
{
    std::string const message = message_of(hello);
    std::string made;
    for (std::string_view rest{message}; !rest.empty();) {
        std::string_view const fragment = rest.substr(0, fragment_size);
        made += record(record_type::handshake, hello.record_version, fragment);
        rest.remove_prefix(fragment.size());
    }
    return made;
}

} // namespace cleat::bench::wire
