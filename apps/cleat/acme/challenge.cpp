#include "acme/challenge.hpp"

#include <cleat/tls/alpn.hpp>
#include <cleat/tls/store/host_name.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cleat::app {

bool is_challenge(tls::hello_facts const& hello) noexcept
{
    // The only one: a length, and the name.
    std::string_view const protocol = challenge_protocol;
    bool const is_offered =
        hello.protocols.size() == protocol.size() + 1 &&
        hello.protocols.front() == protocol.size() &&
        std::ranges::equal(
            hello.protocols.subspan(1), protocol, [](std::uint8_t byte, char letter) {
                return byte == static_cast<std::uint8_t>(letter);
            });
    return is_offered && tls::is_usable_name(hello.server_name) &&
           !hello.server_name.starts_with('*');
}

std::vector<tls::certificate_paths> challenge_files(std::string_view folder, std::string_view name)
{
    std::string const place = fmt::format("{}/{}", folder, tls::name_key(name));
    return {
        {.chain = place + ".crt.pem", .private_key = place + ".key.pem"},
        {.chain = place + ".pem", .private_key = {}}};
}

} // namespace cleat::app
