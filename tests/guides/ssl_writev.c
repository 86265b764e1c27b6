/* The frame of the C block of docs/guides/ssl_writev.md, as library.cpp is one. */

#include <cleat/ssl_writev.h>

#include <openssl/ssl.h>

void handle(int error);
void write_message(SSL* ssl, void* header, size_t header_size, void* body, size_t body_size);

void write_message(SSL* ssl, void* header, size_t header_size, void* body, size_t body_size)
{
    /* block: #include <cleat/ssl_writev.h> */
}
