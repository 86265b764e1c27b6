/* OpenSSL 3.2 sends compressed certificates. Which algorithms it was built with is asked later. */
#include <openssl/ssl.h>

int main(void)
{
    int algorithm = 1;
    unsigned char byte = 0;
    SSL_CTX_set_options((SSL_CTX*)0, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION);
    return SSL_CTX_set1_cert_comp_preference((SSL_CTX*)0, &algorithm, 1) +
           SSL_set1_compressed_cert((SSL*)0, algorithm, &byte, 1, 1);
}
