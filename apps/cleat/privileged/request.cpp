#include "privileged/request.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <netinet/in.h>

namespace cleat::app {
namespace {

// The kind, the family, the port, the address and the scope.
constexpr std::size_t port_request_size = 1 + 1 + 2 + 16 + 4;

bool is_valid_path(std::string_view path) noexcept
{
    return path.starts_with('/') && path.size() < request_max &&
           path.find('\0') == std::string_view::npos;
}

// A name of a file in a folder, and not a path.
bool is_valid_name(std::string_view name) noexcept
{
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view{"/\0", 2}) == std::string_view::npos;
}

std::optional<std::string> encode_names(opener_request const& request)
{
    if (request.names.empty() || request.names.size() > names_max)
        return std::nullopt;
    std::string bytes = request.path;
    for (std::string const& each : request.names) {
        if (!is_valid_name(each))
            return std::nullopt;
        bytes.append(1, '\0').append(each);
    }
    return bytes.size() < request_max ? std::optional{std::move(bytes)} : std::nullopt;
}

std::optional<opener_request> decode_names(std::string_view bytes)
{
    std::size_t end = bytes.find('\0');
    opener_request made{
        .what = opener_request::kind::look, .path = std::string{bytes.substr(0, end)}};
    while (end != std::string_view::npos) {
        std::size_t const begin = end + 1;
        end = bytes.find('\0', begin);
        std::string_view const name = bytes.substr(begin, end - begin);
        if (!is_valid_name(name))
            return std::nullopt;
        made.names.emplace_back(name);
    }
    bool const has_names = !made.names.empty() && made.names.size() <= names_max;
    return has_names && is_valid_path(made.path) ? std::optional{std::move(made)} : std::nullopt;
}

std::string encode_address(bind_address const& address)
{
    std::array<char, port_request_size - 1> bytes{};
    if (address.family() == AF_INET) {
        auto const& v4 = reinterpret_cast<sockaddr_in const&>(address.storage);
        bytes[0] = 4;
        std::memcpy(&bytes[1], &v4.sin_port, 2);
        std::memcpy(&bytes[3], &v4.sin_addr, 4);
    } else {
        auto const& v6 = reinterpret_cast<sockaddr_in6 const&>(address.storage);
        bytes[0] = 6;
        std::memcpy(&bytes[1], &v6.sin6_port, 2);
        std::memcpy(&bytes[3], &v6.sin6_addr, 16);
        std::memcpy(&bytes[19], &v6.sin6_scope_id, 4);
    }
    return {bytes.data(), bytes.size()};
}

std::optional<bind_address> decode_address(std::string_view bytes)
{
    bind_address made;
    if (bytes[0] == 4) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(made.storage);
        v4.sin_family = AF_INET;
        std::memcpy(&v4.sin_port, &bytes[1], 2);
        std::memcpy(&v4.sin_addr, &bytes[3], 4);
        made.size = sizeof v4;
        bool const is_padded =
            std::ranges::all_of(bytes.substr(7), [](char each) { return each == 0; });
        return is_padded ? std::optional{made} : std::nullopt;
    }
    if (bytes[0] != 6)
        return std::nullopt;
    auto& v6 = reinterpret_cast<sockaddr_in6&>(made.storage);
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_port, &bytes[1], 2);
    std::memcpy(&v6.sin6_addr, &bytes[3], 16);
    std::memcpy(&v6.sin6_scope_id, &bytes[19], 4);
    made.size = sizeof v6;
    return made;
}

} // namespace

unsigned bind_address::port() const noexcept
{
    return ntohs(
        family() == AF_INET ? reinterpret_cast<sockaddr_in const&>(storage).sin_port
                            : reinterpret_cast<sockaddr_in6 const&>(storage).sin6_port);
}

std::optional<bind_address> address_from(sockaddr const& address, std::size_t size) noexcept
{
    std::size_t const expected = address.sa_family == AF_INET    ? sizeof(sockaddr_in)
                                 : address.sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                                 : 0;
    if (expected == 0 || size != expected)
        return std::nullopt;
    bind_address made;
    std::memcpy(&made.storage, &address, size);
    made.size = static_cast<socklen_t>(size);
    return made;
}

std::optional<std::string> encode(opener_request const& request)
{
    std::string const bytes{static_cast<char>(request.what)};
    if (request.what == opener_request::kind::port) {
        bool const is_ip =
            request.address.family() == AF_INET || request.address.family() == AF_INET6;
        return is_ip ? std::optional{bytes + encode_address(request.address)} : std::nullopt;
    }
    if (!is_valid_path(request.path))
        return std::nullopt;
    if (request.what != opener_request::kind::look)
        return bytes + request.path;
    std::optional<std::string> const names = encode_names(request);
    return names ? std::optional{bytes + *names} : std::nullopt;
}

std::optional<opener_request> decode_request(std::string_view bytes)
{
    if (bytes.empty() || bytes.size() > request_max)
        return std::nullopt;
    opener_request made;
    made.what = static_cast<opener_request::kind>(bytes.front());
    bytes.remove_prefix(1);
    switch (made.what) {
    case opener_request::kind::file:
    case opener_request::kind::folder:
    case opener_request::kind::log:
    case opener_request::kind::watch:
        made.path = bytes;
        return is_valid_path(bytes) ? std::optional{std::move(made)} : std::nullopt;
    case opener_request::kind::look:
        return decode_names(bytes);
    case opener_request::kind::port:
        if (bytes.size() != port_request_size - 1)
            return std::nullopt;
        if (std::optional<bind_address> const address = decode_address(bytes)) {
            made.address = *address;
            return made;
        }
        return std::nullopt;
    }
    return std::nullopt; // A kind that does not exist.
}

std::string encode(opener_answer const& answer)
{
    auto const number = static_cast<std::int32_t>(answer.error);
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes.append(answer.text, 0, answer_max - sizeof number);
}

std::optional<opener_answer> decode_answer(std::string_view bytes)
{
    std::int32_t number = 0;
    if (bytes.size() < sizeof number || bytes.size() > answer_max)
        return std::nullopt;
    std::memcpy(&number, bytes.data(), sizeof number);
    return opener_answer{number, std::string{bytes.substr(sizeof number)}};
}

std::string encode(std::vector<watched_place> const& places)
{
    std::string text;
    for (watched_place const& each : places)
        text.append(std::to_string(each.watch)).append("/").append(each.name).append("/");
    return text;
}

std::optional<std::vector<watched_place>> decode_places(std::string_view text)
{
    std::vector<watched_place> places;
    while (!text.empty()) {
        watched_place place;
        char const* const end = text.data() + text.size();
        auto const [rest, ec] = std::from_chars(text.data(), end, place.watch);
        if (ec != std::errc{} || rest == end || *rest != '/')
            return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
        std::size_t const size = text.find('/');
        if (size == std::string_view::npos)
            return std::nullopt;
        place.name = text.substr(0, size);
        text.remove_prefix(size + 1);
        places.push_back(std::move(place));
    }
    return places;
}

std::string encode(std::vector<tls::file_facts> const& facts)
{
    static_assert(sizeof(tls::file_facts) == facts_size);
    std::string text(facts.size() * facts_size, '\0');
    if (!facts.empty())
        std::memcpy(text.data(), facts.data(), text.size());
    return text;
}

std::optional<std::vector<tls::file_facts>> decode_facts(std::string_view text)
{
    if (text.size() % facts_size != 0)
        return std::nullopt;
    std::vector<tls::file_facts> facts(text.size() / facts_size);
    if (!facts.empty())
        std::memcpy(facts.data(), text.data(), text.size());
    return facts;
}

} // namespace cleat::app
