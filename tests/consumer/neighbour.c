/* A shared library on the OpenSSL of the system, as libcurl is, in a program that uses cleat. */

#include <openssl/ssl.h>

#include <stddef.h>

/* hello_of_neighbour is the version of its TLS library, or NULL where that does not begin a
 * handshake: some of its functions are then another library's. */
char const* hello_of_neighbour(void);

char const* hello_of_neighbour(void)
{
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    SSL* const ssl = context ? SSL_new(context) : NULL;
    char const* version = NULL;
    if (ssl) {
        BIO* const nothing = BIO_new(BIO_s_mem());
        BIO* const sent = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl, nothing, sent);
        if (SSL_connect(ssl) < 0 && BIO_pending(sent) > 0)
            version = OpenSSL_version(OPENSSL_VERSION);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    return version;
}
