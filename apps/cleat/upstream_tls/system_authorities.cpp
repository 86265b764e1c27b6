#include "upstream_tls/system_authorities.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace cleat::app {

std::string system_authorities()
{
    char const* const named = std::getenv("SSL_CERT_FILE"); // NOLINT: no thread changes it
    if (named != nullptr && *named != '\0')
        return named;
    constexpr std::array usual = std::to_array<char const*>({
        "/etc/ssl/certs/ca-certificates.crt", // Debian, Ubuntu, Arch, Gentoo.
        "/etc/pki/tls/certs/ca-bundle.crt",   // Fedora, RHEL.
        "/etc/ssl/ca-bundle.pem",             // openSUSE.
        "/etc/ssl/cert.pem",                  // Alpine.
    });
    for (char const* const each : usual)
        if (::access(each, R_OK) == 0)
            return each;
    return {};
}

} // namespace cleat::app
