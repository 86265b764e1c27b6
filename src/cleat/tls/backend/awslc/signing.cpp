// AWS-LC has no function that tells a server what it signed with, but shows every message of a
// handshake to the message callback, which is asked for nothing afterwards.
//
// What it finds goes to the call in progress, by a pointer of the thread: the first ex_data of an
// SSL allocates, and freeing it takes a lock of the process.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/awslc/signing.hpp>

namespace cleat::tls {
namespace awslc {
namespace {

constinit thread_local std::uint16_t* found = nullptr; // Of the call in progress, or null.

std::size_t number_at(std::span<std::uint8_t const> bytes, std::size_t at) noexcept
{
    return std::size_t{bytes[at]} << 8U | bytes[at + 1];
}

void look_at(
    int is_write, int, int content_type, void const* bytes, std::size_t size, SSL* ssl,
    void*) noexcept
{
    if (content_type != SSL3_RT_HANDSHAKE || is_write == 0 || size == 0)
        return;
    std::span const message{static_cast<std::uint8_t const*>(bytes), size};
    switch (message[0]) {
    case SSL3_MT_SERVER_KEY_EXCHANGE:
    case SSL3_MT_CERTIFICATE_VERIFY:
        if (found != nullptr)
            *found = scheme_of(message);
        break;
    case SSL3_MT_FINISHED: // Nothing is signed after it.
        break;
    default:
        return;
    }
    SSL_set_msg_callback(ssl, nullptr); // Or it would be called for every record from now on.
}

} // namespace

std::uint16_t scheme_of(std::span<std::uint8_t const> message) noexcept
{
    constexpr std::size_t header_size = 4; // The message's type and its length.
    std::size_t at = header_size;
    if (!message.empty() && message[0] == SSL3_MT_SERVER_KEY_EXCHANGE) {
        // RFC 8422, section 5.4: a named group (3), its number, and a public key before the scheme.
        constexpr std::size_t key_size_at = header_size + 3;
        if (message.size() <= key_size_at || message[header_size] != 3)
            return 0;
        at = key_size_at + 1 + message[key_size_at];
    } else if (message.empty() || message[0] != SSL3_MT_CERTIFICATE_VERIFY)
        return 0;
    return message.size() < at + 2 ? 0 : static_cast<std::uint16_t>(number_at(message, at));
}

void watch_signing(SSL_CTX* ctx) noexcept
{
    SSL_CTX_set_msg_callback(ctx, look_at);
}

} // namespace awslc

int backend::do_handshake(SSL* ssl, std::uint16_t& signed_with) noexcept
{
    awslc::found = &signed_with;
    int const value = SSL_do_handshake(ssl);
    awslc::found = nullptr;
    return value;
}

} // namespace cleat::tls
