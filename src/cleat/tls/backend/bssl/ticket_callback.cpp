// Session tickets in the BoringSSL family: AES-256-CBC and HMAC-SHA256 under the keys of
// ticket_keys.

#include <cleat/tls/backend.hpp>
#include <cleat/tls/ticket_keys.hpp>
#include <cleat/tls/ticket_watch.hpp>

#include <openssl/cipher.h>
#include <openssl/digest.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

#include <sys/time.h>

namespace cleat::tls::backend {
namespace {

int keys_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// Returns -1 to fail the handshake, 0 to go on without the ticket, 1 for success, 2 to request a
// new ticket, too. Sealing returns only 1 and -1.
int on_ticket(
    SSL* ssl, std::uint8_t* name, std::uint8_t* iv, EVP_CIPHER_CTX* cipher, HMAC_CTX* mac,
    int sealing) noexcept
{
    ticket_keys& keys =
        *static_cast<ticket_keys*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), keys_index()));
    EVP_CIPHER const* const aes = EVP_aes_256_cbc();
    if (sealing == 1) {
        ticket_keys::key const* const key = keys.current();
        if (key == nullptr)
            return -1;
        std::ranges::copy(key->name, name);
        bool const ready =
            RAND_bytes(iv, EVP_CIPHER_iv_length(aes)) == 1 &&
            EVP_EncryptInit_ex(cipher, aes, nullptr, key->aes.data(), iv) == 1 &&
            HMAC_Init_ex(mac, key->hmac.data(), key->hmac.size(), EVP_sha256(), nullptr) == 1;
        return ready ? 1 : -1;
    }
    ticket_keys::opened const found = keys.find(std::span<std::uint8_t const, 16>{name, 16});
    if (found.sealing_key == nullptr)
        return 0;
    ticket_keys::key const& key = *found.sealing_key;
    bool const ready =
        HMAC_Init_ex(mac, key.hmac.data(), key.hmac.size(), EVP_sha256(), nullptr) == 1 &&
        EVP_DecryptInit_ex(cipher, aes, nullptr, key.aes.data(), iv) == 1;
    if (!ready)
        return -1;
    return found.renew ? 2 : 1;
}

// The library refuses a session that begins after its clock, as one may that a host has made whose
// clock is ahead: see ticket_keys.
void on_time(SSL const*, timeval* now) noexcept
{
    client_ticket const* const offered = noted_ticket();
    std::int64_t const made_by = offered == nullptr ? 0 : offered->made_by;
    *now = {std::max<std::int64_t>(std::time(nullptr), made_by), 0};
}

} // namespace

void on_ticket_key(SSL_CTX* ctx, ticket_keys* keys)
{
    SSL_CTX_set_current_time_cb(ctx, on_time);
    SSL_CTX_set_ex_data(ctx, keys_index(), keys);
    SSL_CTX_set_tlsext_ticket_key_cb(ctx, on_ticket);
}

} // namespace cleat::tls::backend
