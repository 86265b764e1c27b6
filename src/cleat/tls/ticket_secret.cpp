#include <cleat/tls/ticket_secret.hpp>

#include <cerrno>
#include <span>
#include <system_error>

#include <sys/random.h>

namespace cleat::tls {

// From the kernel. std::random_device may be a processor instruction, whose quality cannot be
// verified.
std::shared_ptr<ticket_secret const> new_ticket_secret()
{
    auto made = std::make_shared<ticket_secret>();
    for (std::span<std::byte> rest{*made}; !rest.empty();) {
        ssize_t const n = ::getrandom(rest.data(), rest.size(), 0);
        if (n < 0 && errno != EINTR)
            throw std::system_error{errno, std::system_category(), "getrandom"};
        if (n > 0)
            rest = rest.subspan(static_cast<std::size_t>(n));
    }
    return made;
}

} // namespace cleat::tls
