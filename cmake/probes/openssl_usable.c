/* Must compile: what cleat cannot do without, in every OpenSSL from 3.0 on. */
#include <openssl/provider.h>
#include <openssl/ssl.h>

int main(void)
{
    OSSL_LIB_CTX* library = OSSL_LIB_CTX_new();
    SSL_CTX* ctx = SSL_CTX_new_ex(library, NULL, TLS_server_method());
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
}
