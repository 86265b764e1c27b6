#include <cleat/tls/alpn.hpp>
#include <cleat/tls/context.hpp>

#include <openssl/ssl.h>

#include <fmt/format.h>

namespace cleat::tls {

std::vector<unsigned char> alpn_on_wire(std::vector<std::string> const& protocols)
{
    constexpr std::size_t name_size_max =
        255; // Each has a length of one byte, the list one of two.
    constexpr std::size_t list_size_max = 65535;
    std::vector<unsigned char> wire;
    for (std::string const& name : protocols) {
        if (name.empty() || name.size() > name_size_max)
            throw spec_error{fmt::format(
                "ALPN: \"{}\" is {} bytes long: a protocol's name has 1 to 255 (RFC 7301, section "
                "3.1)",
                name, name.size())};
        wire.push_back(static_cast<unsigned char>(name.size()));
        wire.insert(wire.end(), name.begin(), name.end());
    }
    if (wire.size() > list_size_max)
        throw spec_error{"ALPN: the list of protocols is longer than 65535 bytes"};
    return wire;
}

std::optional<std::string_view> choose_protocol(
    std::span<unsigned char const> supported, std::span<unsigned char const> offered) noexcept
{
    unsigned char* found = nullptr;
    unsigned char size = 0;
    int const verdict = SSL_select_next_proto(
        &found, &size, supported.data(), static_cast<unsigned>(supported.size()), offered.data(),
        static_cast<unsigned>(offered.size()));
    if (verdict != OPENSSL_NPN_NEGOTIATED)
        return {};
    return std::string_view{reinterpret_cast<char const*>(found), size};
}

} // namespace cleat::tls
