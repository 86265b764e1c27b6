/* The C interface as a program uses it that has an SSL of its own and knows nothing else of cleat:
 * twenty pieces, from a server to its client, in one record. C11, and C++ too.
 *
 * A secret that both know stands in for certificates (PSK), and memory for the network. */

#include <cleat/ssl_writev.h> /* First: before there is any header of the TLS library. */

#include <openssl/ssl.h>

#include <stdio.h>
#include <string.h>

enum
{
    piece_count = 20,
    piece_size = 50,
    message_size = piece_count * piece_size
};

static unsigned the_secret(unsigned char* secret, unsigned room)
{
    unsigned const size = room < 32 ? room : 32;
    memset(secret, 's', size);
    return size;
}

static unsigned ask_server(SSL* ssl, char const* identity, unsigned char* secret, unsigned room)
{
    (void)ssl;
    (void)identity;
    return the_secret(secret, room);
}

static unsigned ask_client(
    SSL* ssl, char const* hint, char* identity, unsigned identity_room, unsigned char* secret,
    unsigned room)
{
    (void)ssl;
    (void)hint;
    snprintf(identity, identity_room, "client");
    return the_secret(secret, room);
}

static SSL_CTX* make_context(SSL_METHOD const* method)
{
    SSL_CTX* const ctx = SSL_CTX_new(method);
    if (ctx == NULL || SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, "ECDHE-PSK-CHACHA20-POLY1305") != 1)
        return NULL;
    SSL_CTX_set_psk_server_callback(ctx, ask_server);
    SSL_CTX_set_psk_client_callback(ctx, ask_client);
    return ctx;
}

/* join puts memory between both: what one writes the other reads. */
static int join(SSL* server, SSL* client)
{
    BIO* const to_server = BIO_new(BIO_s_mem());
    BIO* const to_client = BIO_new(BIO_s_mem());
    if (to_server == NULL || to_client == NULL || BIO_up_ref(to_server) != 1 ||
        BIO_up_ref(to_client) != 1)
        return 0;
    BIO_set_mem_eof_return(to_server, -1); /* Empty is "later", and not the end. */
    BIO_set_mem_eof_return(to_client, -1);
    SSL_set_bio(server, to_server, to_client);
    SSL_set_bio(client, to_client, to_server);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
    for (int turns = 0; turns < 10; ++turns) {
        int const client_done = SSL_do_handshake(client);
        if (SSL_do_handshake(server) == 1 && client_done == 1)
            return 1;
    }
    return 0;
}

static int fail(char const* what)
{
    fprintf(stderr, "%s failed\n", what);
    return 1;
}

int main(void)
{
    SSL_CTX* const of_server = make_context(TLS_server_method());
    SSL_CTX* const of_client = make_context(TLS_client_method());
    if (of_server == NULL || of_client == NULL)
        return fail("SSL_CTX_new");
    SSL* const server = SSL_new(of_server);
    SSL* const client = SSL_new(of_client);
    if (server == NULL || client == NULL || !join(server, client))
        return fail("the handshake");

    char message[message_size];
    struct iovec pieces[piece_count];
    for (int i = 0; i < message_size; ++i)
        message[i] = (char)('a' + i % 26);
    for (int i = 0; i < piece_count; ++i) {
        pieces[i].iov_base = message + i * piece_size;
        pieces[i].iov_len = piece_size;
    }

    size_t written = 0;
    int const ret = cleat_ssl_writev(server, pieces, piece_count, &written);
    if (ret != 1 || written != message_size)
        return fail("cleat_ssl_writev");
    /* A header of 5 bytes and a tag of 16: a second record would be seen. */
    size_t const sent = BIO_ctrl_pending(SSL_get_wbio(server));
    if (sent != message_size + 5 + 16)
        return fail("one record of all pieces");
    char got[message_size + 1];
    if (SSL_read(client, got, (int)sizeof got) != message_size ||
        memcmp(got, message, message_size) != 0)
        return fail("SSL_read");

    /* Its errors are those of the library that made the SSL. */
    int const refused = cleat_ssl_writev(server, pieces, -1, &written);
    if (refused > 0 || SSL_get_error(server, refused) != SSL_ERROR_SSL)
        return fail("the refusal of a negative count");

    SSL_free(server);
    SSL_free(client);
    SSL_CTX_free(of_server);
    SSL_CTX_free(of_client);
    puts("1,000 bytes in 20 pieces made one record");
    return 0;
}
