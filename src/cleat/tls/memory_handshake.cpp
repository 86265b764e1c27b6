#include <cleat/tls/memory_handshake.hpp>

#include <thread>

namespace cleat::tls {
namespace {

// A flight that is longer than the BIO pair's buffer takes more rounds: ten for a long chain of
// certificates.
constexpr int turns_max = 64;

enum class outcome
{
    done,
    waiting,
    failed
};

outcome advance(SSL* side)
{
    int const value = SSL_do_handshake(side);
    if (value == 1)
        return outcome::done;
    int const why = SSL_get_error(side, value);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? outcome::waiting
                                                                     : outcome::failed;
}

} // namespace

bool join_in_memory(SSL* server, SSL* client)
{
    BIO* one = nullptr;
    BIO* other = nullptr;
    if (BIO_new_bio_pair(&one, 0, &other, 0) != 1)
        return false;
    SSL_set_bio(server, one, one); // Takes the one reference for both directions.
    SSL_set_bio(client, other, other);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
    return true;
}

bool shake_hands(SSL* server, SSL* client)
{
    for (int i = 0; i < turns_max; ++i) {
        // A step takes 0.1 ms. A reload makes many of them, and a worker may wait for this CPU.
        std::this_thread::yield();
        outcome const client_is = advance(client);
        std::this_thread::yield();
        outcome const server_is = client_is == outcome::failed ? client_is : advance(server);
        if (client_is == outcome::failed || server_is == outcome::failed)
            return false;
        if (client_is == outcome::done && server_is == outcome::done)
            return true;
    }
    return false;
}

} // namespace cleat::tls
