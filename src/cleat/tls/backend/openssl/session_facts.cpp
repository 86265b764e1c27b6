// Facts of a finished handshake, from OpenSSL.

#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/certificates/certificate.hpp>

#include <array>

namespace cleat::tls::backend {
namespace {

struct spelling
{
    std::string_view library;
    std::string_view ours;
};

// OpenSSL returns other names for groups than those that set them.
constexpr std::array<spelling, 5> spellings{{
    {"secp256r1", "P-256"},
    {"secp384r1", "P-384"},
    {"secp521r1", "P-521"},
    {"x25519", "X25519"},
    {"x448", "X448"},
}};

} // namespace

std::size_t fragment_max(SSL* ssl) noexcept
{
    SSL_SESSION const* const session = SSL_get0_session(ssl);
    unsigned const mode =
        session == nullptr ? 0U : unsigned{SSL_SESSION_get_max_fragment_length(session)};
    // RFC 6066, section 4: 1 is 2^9 bytes, and 4 is 2^12.
    return mode >= 1 && mode <= 4 ? std::size_t{256} << mode : limits::plaintext_record_max;
}

bool keeps_tickets() noexcept
{
    return false;
}

int send_tickets(SSL*) noexcept
{
    return 1;
}

std::string_view suite_name(SSL* ssl, std::uint16_t number) noexcept
{
    std::array<unsigned char, 2> const bytes{
        static_cast<unsigned char>(number >> 8U), static_cast<unsigned char>(number)};
    SSL_CIPHER const* const found = SSL_CIPHER_find(ssl, bytes.data());
    return found == nullptr ? std::string_view{} : SSL_CIPHER_get_name(found);
}

std::string_view group_name(SSL* ssl) noexcept
{
    if (SSL_get_session(ssl) == nullptr)
        return {}; // The handshake failed early: OpenSSL 3.0 would dereference the null session.
    int const group = static_cast<int>(SSL_get_negotiated_group(ssl));
    char const* const found = group == NID_undef ? nullptr : SSL_group_to_name(ssl, group);
    if (found == nullptr)
        return {};
    for (spelling const& each : spellings)
        if (each.library == found)
            return each.ours;
    return found;
}

int do_handshake(SSL* ssl, std::uint16_t&) noexcept
{
    return SSL_do_handshake(ssl); // The SSL remembers the scheme as long as it lives.
}

void restore_message_callback(SSL* ssl) noexcept
{
    SSL_set_msg_callback(ssl, nullptr);
}

bool has_peer_certificate(SSL* ssl) noexcept
{
    return SSL_get0_peer_certificate(ssl) != nullptr;
}

x509_ptr peer_certificate(SSL* ssl) noexcept
{
    return x509_ptr{SSL_get1_peer_certificate(ssl)};
}

std::string peer_common_name(SSL* ssl)
{
    x509_ptr const peer = peer_certificate(ssl);
    return peer == nullptr ? std::string{} : common_name(peer.get());
}

std::string peer_trusted_pem(SSL* ssl)
{
    X509* const peer = SSL_get0_peer_certificate(ssl);
    return peer == nullptr ? std::string{} : trusted_pem_text(peer);
}

} // namespace cleat::tls::backend
