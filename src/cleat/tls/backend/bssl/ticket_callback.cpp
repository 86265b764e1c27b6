// Session tickets in the BoringSSL family: AES-256-CBC and HMAC-SHA256 under the keys of
// ticket_keys.

#include <cleat/core/limits.hpp>
#include <cleat/tls/backend.hpp>
#include <cleat/tls/backend/bssl/ticket_count.hpp>
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

int plan_index() noexcept
{
    static int const index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

// Null: one number for all handshakes.
ticket_plan const* plan_of(SSL const* ssl) noexcept
{
    return static_cast<ticket_plan const*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), plan_index()));
}

// The age of the session that a ticket resumes, as soon as its connection has the session.
void note_age_of_opened() noexcept
{
    SSL const* const ssl = connection_of_ticket();
    SSL_SESSION const* const resumed = ssl == nullptr ? nullptr : SSL_get_session(ssl);
    if (resumed == nullptr)
        return;
    note_session_age(SSL_SESSION_get_time(resumed));
    note_connection(nullptr);
}

// Returns -1 to fail the handshake, 0 to go on without the ticket, 1 for success, 2 to request a
// new ticket, too. Sealing returns only 1 and -1.
int on_ticket(
    SSL* ssl, std::uint8_t* name, std::uint8_t* iv, EVP_CIPHER_CTX* cipher, HMAC_CTX* mac,
    int sealing) noexcept
{
    ticket_keys& keys = *ticket_keys_of(SSL_get_SSL_CTX(ssl));
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
    note_connection(ssl);
    // A ticket of another secret is replaced, so that the secret can be taken away. One of an epoch
    // before is not: a session of TLS 1.2 does not live longer by that, and a host that is not in
    // the new ticket's epoch yet would take its lifetime for over (on_time). TLS 1.3 sends new
    // tickets anyway.
    ticket_plan const* const plan = plan_of(ssl);
    return found.secret != 0 && (plan == nullptr || plan->counts.resumed != 0) ? 2 : 1;
}

// The library refuses a session that begins after its clock, as one may that a host has made whose
// clock is ahead: see ticket_keys.
//
// In TLS 1.3 this call is also the last one before the library gives a resumed session this time.
void on_time(SSL const*, timeval* now) noexcept
{
    note_age_of_opened();
    client_ticket const* const offered = noted_ticket();
    std::int64_t const made_by = offered == nullptr ? 0 : offered->made_by;
    *now = {std::max<std::int64_t>(std::time(nullptr), made_by), 0};
}

} // namespace

ticket_keys* ticket_keys_of(SSL_CTX const* ctx) noexcept
{
    return static_cast<ticket_keys*>(SSL_CTX_get_ex_data(ctx, keys_index()));
}

void on_ticket_key(SSL_CTX* ctx, ticket_keys* keys)
{
    SSL_CTX_set_current_time_cb(ctx, on_time);
    SSL_CTX_set_ex_data(ctx, keys_index(), keys);
    SSL_CTX_set_tlsext_ticket_key_cb(ctx, on_ticket);
}

unsigned resumed_tickets_max() noexcept
{
    return limits::tickets_max;
}

bool plan_tickets(SSL_CTX* ctx, ticket_plan const* plan)
{
    auto const [full, resumed] = plan->counts;
    return SSL_CTX_set_num_tickets(ctx, full) == 1 &&
           (full == resumed ||
            SSL_CTX_set_ex_data(ctx, plan_index(), const_cast<ticket_plan*>(plan)) == 1);
}

} // namespace cleat::tls::backend

namespace cleat::tls {

// The library has one number for a context, and reads it when the client's Finished has come: in a
// later call than the ClientHello, after which it is known whether a session is resumed.
void bssl::set_ticket_count(SSL* ssl) noexcept
{
    backend::ticket_plan const* const plan = backend::plan_of(ssl);
    if (plan == nullptr || plan->first == nullptr)
        return;
    auto const [full, resumed] = plan->counts;
    SSL_CTX_set_num_tickets(plan->first, SSL_session_reused(ssl) != 0 ? resumed : full);
}

void bssl::note_ticket_age(SSL const* ssl) noexcept
{
    if (SSL_session_reused(ssl) != 0)
        backend::note_age_of_opened();
}

} // namespace cleat::tls
