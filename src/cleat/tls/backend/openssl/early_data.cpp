// Early data of a client on OpenSSL. SSL_write_early_data sends the ClientHello too, and the
// handshake needs no help after a rejection. The library fails the connection where the name or the
// protocol is not the session's, and where early data exceeds its limit: these are checked before.

#include <cleat/tls/backend.hpp>

#include <algorithm>
#include <cstring>

namespace cleat::tls::backend {
namespace {

int offered_alpn_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// A list of ALPN is protocols with a length of one byte before each (RFC 7301, section 3.1).
bool offers(std::vector<unsigned char> const& list, std::span<unsigned char const> protocol)
{
    for (std::size_t i = 0; i < list.size(); i += 1U + list[i])
        if (std::ranges::equal(std::span{list}.subspan(i + 1, list[i]), protocol))
            return true;
    return false;
}

bool same_name(SSL* ssl, SSL_SESSION const* session) noexcept
{
    char const* const before = SSL_SESSION_get0_hostname(session);
    char const* const now = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    return before == nullptr || (now != nullptr && std::strcmp(before, now) == 0);
}

bool offers_protocol_of(SSL* ssl, SSL_SESSION const* session) noexcept
{
    unsigned char const* protocol = nullptr;
    std::size_t size = 0;
    SSL_SESSION_get0_alpn_selected(session, &protocol, &size);
    if (size == 0)
        return true;
    auto const* const offered = static_cast<std::vector<unsigned char> const*>(
        SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), offered_alpn_index()));
    return offered != nullptr && offers(*offered, {protocol, size});
}

} // namespace

bool allows_early_data(SSL_SESSION const* session) noexcept
{
    return SSL_SESSION_get_max_early_data(session) != 0;
}

void set_offered_alpn(SSL_CTX* ctx, std::vector<unsigned char> const* offered)
{
    SSL_CTX_set_ex_data(
        ctx, offered_alpn_index(), const_cast<std::vector<unsigned char>*>(offered));
}

bool may_offer_early_data(SSL* ssl) noexcept
{
    SSL_SESSION const* const session = SSL_get0_session(ssl);
    // The library does not offer a TLS 1.3 session twice, and early data would then fail.
    return session != nullptr && SSL_SESSION_is_resumable(session) == 1 &&
           allows_early_data(session) && same_name(ssl, session) &&
           offers_protocol_of(ssl, session);
}

int begin_early_data(SSL* ssl) noexcept
{
    std::size_t written = 0;
    return SSL_write_early_data(ssl, "", 0, &written);
}

int write_early_data(SSL* ssl, std::span<std::byte const> record, std::size_t written) noexcept
{
    std::size_t const limit = SSL_SESSION_get_max_early_data(SSL_get0_session(ssl));
    std::size_t const size = std::min(record.size(), limit - std::min(limit, written));
    if (size == 0)
        return 0;
    std::size_t taken = 0;
    return SSL_write_early_data(ssl, record.data(), size, &taken) == 1 ? static_cast<int>(taken)
                                                                       : -1;
}

int continue_after_rejection(SSL*, int value) noexcept
{
    return value;
}

bool early_data_accepted(SSL const* ssl) noexcept
{
    return SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED;
}

} // namespace cleat::tls::backend
