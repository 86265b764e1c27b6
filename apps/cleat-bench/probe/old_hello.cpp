#include "probe/old_hello.hpp"

#include <initializer_list>

namespace cleat::bench {
namespace {

constexpr char handshake_record = 22; // RFC 2246, section 6.2.1.
constexpr char client_hello = 1;      // Section 7.4.
constexpr char server_hello = 2;

// For certificates of either kind, with and without forward secrecy; those of SSL 3.0 last.
constexpr std::uint16_t offered_suites[] = {
    0xc009, // ECDHE-ECDSA-AES128-SHA
    0xc00a, // ECDHE-ECDSA-AES256-SHA
    0xc013, // ECDHE-RSA-AES128-SHA
    0xc014, // ECDHE-RSA-AES256-SHA
    0x0033, // DHE-RSA-AES128-SHA
    0x0039, // DHE-RSA-AES256-SHA
    0x002f, // AES128-SHA
    0x0035, // AES256-SHA
    0x000a, // DES-CBC3-SHA
    0x0005, // RC4-SHA
    0x0004, // RC4-MD5
};
constexpr std::uint16_t groups[] = {29, 23, 24, 25}; // X25519, P-256, P-384, P-521.

std::string wire_number(std::size_t value, unsigned bytes)
{
    std::string made;
    while (bytes-- > 0)
        made.push_back(static_cast<char>(value >> (8 * bytes) & 0xff));
    return made;
}

template <class Numbers>
std::string wire_list(Numbers const& numbers)
{
    std::string made;
    for (std::uint16_t const each : numbers)
        made += wire_number(each, 2);
    return made;
}

// with_size puts the size before the contents, in so many bytes.
std::string with_size(std::string const& contents, unsigned bytes)
{
    return wire_number(contents.size(), bytes) + contents;
}

std::string extension(std::uint16_t type, std::string const& contents)
{
    return wire_number(type, 2) + with_size(contents, 2);
}

std::string extensions(std::string_view server_name)
{
    std::string made;
    if (!server_name.empty()) // RFC 6066, section 3: a list of one host name.
        made +=
            extension(0, with_size(wire_number(0, 1) + with_size(std::string{server_name}, 2), 2));
    made += extension(10, with_size(wire_list(groups), 2)); // RFC 8422, section 5.1.1.
    made += extension(11, with_size(wire_number(0, 1), 1)); // Section 5.1.2: uncompressed points.
    return made;
}

} // namespace

std::string_view name_of(old_version v) noexcept
{
    switch (v) {
    case old_version::ssl_3_0:
        return "SSL 3.0";
    case old_version::tls_1_0:
        return "TLS 1.0";
    case old_version::tls_1_1:
        break;
    }
    return "TLS 1.1";
}

std::string old_hello(old_version v, std::string_view server_name)
{
    std::string const version = wire_number(static_cast<std::uint16_t>(v), 2);
    std::string hello = version;
    hello.append(32, 'c');     // No handshake completes, so it need not be random.
    hello += with_size({}, 1); // No session.
    hello += with_size(wire_list(offered_suites), 2);
    hello += with_size(std::string(1, '\0'), 1); // No compression.
    if (v != old_version::ssl_3_0)
        hello += with_size(extensions(server_name), 2);
    std::string const message = client_hello + with_size(hello, 3);
    return handshake_record + version + with_size(message, 2);
}

std::optional<std::uint16_t> chosen_version(std::string_view answer) noexcept
{
    if (answer.size() < chosen_version_size || answer[0] != handshake_record ||
        answer[5] != server_hello)
        return {};
    auto const byte = [&](std::size_t index) { return static_cast<unsigned char>(answer[index]); };
    return static_cast<std::uint16_t>(byte(9) << 8 | byte(10));
}

} // namespace cleat::bench
