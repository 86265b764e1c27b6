/* OpenSSL 3.5 names the signature scheme of a handshake itself. */
#include <openssl/ssl.h>

int main(void)
{
    char const* name = 0;
    return SSL_get0_signature_name((SSL*)0, &name) + SSL_get0_peer_signature_name((SSL*)0, &name);
}
