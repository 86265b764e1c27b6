// AWS-LC has no getter for the scheme that a server signed with, but its message callback gets
// every handshake message. The callback removes itself when it has found the scheme.
//
// The callback stores the scheme through a thread_local pointer that do_handshake sets, not in the
// SSL's ex_data: the first ex_data of an SSL allocates, and freeing it takes a lock of the process.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/awslc/signing.hpp>
#include <cleat/tls/backend/bssl/ticket_count.hpp>

namespace cleat::tls {
namespace awslc {
namespace {

// Where the do_handshake in progress stores the scheme, or null.
constinit thread_local std::uint16_t* scheme_of_call = nullptr;

std::size_t uint16_at(std::span<std::uint8_t const> bytes, std::size_t offset) noexcept
{
    return std::size_t{bytes[offset]} << 8U | bytes[offset + 1];
}

void on_message(
    int is_write, int, int content_type, void const* bytes, std::size_t size, SSL* ssl,
    void*) noexcept
{
    if (content_type != SSL3_RT_HANDSHAKE || is_write == 0 || size == 0)
        return;
    std::span const message{static_cast<std::uint8_t const*>(bytes), size};
    switch (message[0]) {
    case SSL3_MT_SERVER_KEY_EXCHANGE:
    case SSL3_MT_CERTIFICATE_VERIFY:
        if (scheme_of_call != nullptr)
            *scheme_of_call = scheme_of(message);
        break;
    case SSL3_MT_FINISHED: // No signature comes after it.
        break;
    default:
        return;
    }
    SSL_set_msg_callback(ssl, nullptr); // Otherwise it is called for every later record.
}

} // namespace

std::uint16_t scheme_of(std::span<std::uint8_t const> message) noexcept
{
    constexpr std::size_t header_size = 4; // The message's type and its length.
    std::size_t offset = header_size;
    if (!message.empty() && message[0] == SSL3_MT_SERVER_KEY_EXCHANGE) {
        // RFC 8422, section 5.4: a named group (3), its number, and a public key before the scheme.
        constexpr std::size_t key_size_at = header_size + 3;
        if (message.size() <= key_size_at || message[header_size] != 3)
            return 0;
        offset = key_size_at + 1 + message[key_size_at];
    } else if (message.empty() || message[0] != SSL3_MT_CERTIFICATE_VERIFY)
        return 0;
    return message.size() < offset + 2 ? 0 : static_cast<std::uint16_t>(uint16_at(message, offset));
}

void watch_signing(SSL_CTX* ctx) noexcept
{
    SSL_CTX_set_msg_callback(ctx, on_message);
}

} // namespace awslc

void backend::restore_message_callback(SSL* ssl) noexcept
{
    SSL_set_msg_callback(ssl, awslc::on_message);
}

int backend::do_handshake(SSL* ssl, std::uint16_t& signing_scheme) noexcept
{
    bssl::set_ticket_count(ssl);
    awslc::scheme_of_call = &signing_scheme;
    int const value = SSL_do_handshake(ssl);
    awslc::scheme_of_call = nullptr;
    bssl::note_ticket_age(ssl);
    return value;
}

} // namespace cleat::tls
