// Session tickets with OpenSSL: AES-256-CBC and HMAC-SHA256 under the keys of ticket_keys.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/openssl/session_ids.hpp>
#include <cleat/tls/backend/openssl/state.hpp>
#include <cleat/tls/backend/openssl/ticket_request.hpp>
#include <cleat/tls/certificates/client_hello.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <openssl/core_names.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace cleat::tls::backend {
namespace {

int keys_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

bool set_mac_key(EVP_MAC_CTX* mac, ticket_keys::key const& key) noexcept
{
    std::array<char, 7> digest{"SHA256"};
    std::array<OSSL_PARAM, 3> const parameters{
        OSSL_PARAM_construct_octet_string(
            OSSL_MAC_PARAM_KEY, const_cast<std::uint8_t*>(key.hmac.data()), key.hmac.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
        OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(mac, parameters.data()) == 1;
}

// Returns as SSL_CTX_set_tlsext_ticket_key_evp_cb(3) says: -1 fails the handshake, 0 goes on
// without a ticket, 1 is success, 2 also requests a new ticket.
int on_ticket(
    SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
    int sealing) noexcept
{
    ticket_keys& keys = *ticket_keys_of(SSL_get_SSL_CTX(ssl));
    library_state::state const& library = keys.library().native();
    if (sealing == 1) {
        ticket_keys::key const* const key = keys.current();
        if (key == nullptr)
            return 0;
        std::ranges::copy(key->name, name);
        bool const ready =
            RAND_bytes_ex(library.library.get(), iv, EVP_MAX_IV_LENGTH, 0) == 1 &&
            EVP_EncryptInit_ex2(cipher, library.aes_256_cbc.get(), key->aes.data(), iv, nullptr) ==
                1 &&
            set_mac_key(mac, *key);
        return ready ? 1 : -1;
    }
    ticket_keys::opened const found = keys.find(std::span<std::uint8_t const, 16>{name, 16});
    if (found.sealing_key == nullptr)
        return 0;
    bool const ready =
        set_mac_key(mac, *found.sealing_key) &&
        EVP_DecryptInit_ex2(
            cipher, library.aes_256_cbc.get(), found.sealing_key->aes.data(), iv, nullptr) == 1;
    if (!ready)
        return -1;
    // A TLS 1.3 client uses a ticket once (RFC 8446, appendix C.4), so each one is answered with
    // the next.
    bool const is_due = found.renew || SSL_version(ssl) == TLS1_3_VERSION;
    return is_due && openssl::resumed_tickets(ssl) != 0 ? 2 : 1;
}

// As SSL_CTX_set_session_ticket_cb(3) says. A ticket that is not used is answered with a new one.
SSL_TICKET_RETURN on_opened(
    SSL* ssl, SSL_SESSION* session, unsigned char const*, std::size_t, SSL_TICKET_STATUS status,
    void*) noexcept
{
    bool const is_opened = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
    if (!is_opened || openssl::has_other_name(ssl, session))
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    // Now: the library gives a resumed session of TLS 1.3 the time of its next ticket.
    note_session_age(static_cast<std::uint64_t>(SSL_SESSION_get_time(session)));
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

} // namespace

ticket_keys* ticket_keys_of(SSL_CTX const* ctx) noexcept
{
    return static_cast<ticket_keys*>(SSL_CTX_get_ex_data(ctx, keys_index()));
}

void on_ticket_key(SSL_CTX* ctx, ticket_keys* keys)
{
    SSL_CTX_set_ex_data(ctx, keys_index(), keys);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket);
    SSL_CTX_set_tlsext_servername_callback(ctx, openssl::accept_name);
    SSL_CTX_set_session_ticket_cb(ctx, nullptr, on_opened, nullptr);
}

} // namespace cleat::tls::backend

namespace cleat::tls {

int openssl::accept_name(SSL*, int*, void*) noexcept
{
    return SSL_TLSEXT_ERR_OK;
}

bool openssl::has_other_name(SSL* ssl, SSL_SESSION const* session) noexcept
{
    if (SSL_version(ssl) == TLS1_3_VERSION)
        return false;
    char const* const kept = SSL_SESSION_get0_hostname(session);
    return server_name_in(backend::client_hello{ssl}.body_of(extension::server_name)) !=
           std::string_view{kept == nullptr ? "" : kept};
}

} // namespace cleat::tls
