#include <cleat/tls/ticket_secret.hpp>
#include <cleat/tls/wiped_ticket_secret.hpp>

#include <openssl/crypto.h>

#include <cerrno>
#include <span>
#include <system_error>

#include <sys/random.h>

namespace cleat::tls {

wiped_ticket_secret::~wiped_ticket_secret()
{
    OPENSSL_cleanse(secret.data(), secret.size());
}

std::shared_ptr<ticket_secret> empty_ticket_secret()
{
    auto const made = std::make_shared<wiped_ticket_secret>();
    return {made, &made->secret};
}

bool is_same_secret(ticket_secret const& one, ticket_secret const& other) noexcept
{
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

// From the kernel. std::random_device may be a processor instruction, whose quality cannot be
// verified.
std::shared_ptr<ticket_secret const> new_ticket_secret()
{
    std::shared_ptr<ticket_secret> made = empty_ticket_secret();
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
