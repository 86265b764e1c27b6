/* cleat_ssl_writev: writes a list of buffers to an SSL as if they were one buffer.
 *
 * SSL_write makes at least one TLS record of every call: 22 bytes of overhead and one seal for each
 * record in TLS 1.3, 29 bytes in TLS 1.2 with AES-GCM. A program that has its message in pieces (a
 * header and a body, twenty lines of a log) pays that for every piece, or copies the pieces
 * together first. cleat_ssl_writev fills the records across the pieces instead: N small pieces make
 * one record, and pieces that fill records by themselves are encrypted where they are.
 *
 *     struct iovec pieces[] = {{header, header_size}, {body, body_size}};
 *     size_t written;
 *     int ret = cleat_ssl_writev(ssl, pieces, 2, &written);
 *     if (ret <= 0)
 *         switch (SSL_get_error(ssl, ret)) ...    // as after SSL_write
 *
 * The call is for C (C11) and C++. The SSL belongs to the TLS library that cleat was built with:
 * OpenSSL 3.0 to 4.0, AWS-LC or BoringSSL. <cleat/tls_library.h> does not compile where the
 * compiler finds the headers of another one. The SSL may be made by any code, have any BIO and any
 * mode, and must speak TLS over a stream: DTLS and QUIC do not write a stream of records.
 *
 * On OpenSSL early data needs SSL_write_early_data instead. On AWS-LC and BoringSSL early data is
 * written as with SSL_write: after SSL_ERROR_EARLY_DATA_REJECTED and SSL_reset_early_data_reject
 * write from the first byte again. A write that waits for its retry when SSL_do_handshake or
 * SSL_read meets the rejection must be retried before that reset: the retry fails with
 * SSL_ERROR_EARLY_DATA_REJECTED, too.
 *
 * The guide is docs/guides/ssl_writev.md.
 */

#ifndef CLEAT_SSL_WRITEV_H
#define CLEAT_SSL_WRITEV_H

#include <cleat/tls_library.h>

#include <stddef.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SSL is the TLS library's. */
typedef struct ssl_st SSL;

/* cleat_ssl_writev writes the bytes of count pieces, in order, to ssl.
 *
 * Returns 1 and sets *written to the number of bytes taken, or returns a number <= 0 for which
 * SSL_get_error(ssl, ret) says why, and sets *written to 0. As for SSL_write the thread's error
 * queue should be empty before the call, and one thread at a time uses an SSL.
 *
 * Success means all bytes, unless SSL_MODE_ENABLE_PARTIAL_WRITE is set: then the call returns as
 * SSL_write does after the first record (or the first pipelined batch of them): give the rest to
 * the next call. Nothing to write (count 0, or empty pieces only) is success with *written 0.
 *
 * Retries: after SSL_ERROR_WANT_WRITE, SSL_ERROR_WANT_READ and the other WANT errors call again
 * with the same pieces: the same bytes, cut in the same lengths; empty pieces do not count. The
 * array itself may always be another one. With SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER the bytes may be
 * at other addresses, too. Records that are already written are not written again. Another total,
 * other lengths, or (without that mode) other addresses fail with SSL_R_BAD_WRITE_RETRY, nothing is
 * sent, and the right retry is still possible. Until the retry is done, write nothing else to ssl
 * and do not SSL_clear it; reading, and freeing it, are fine.
 *
 * Errors of the arguments are SSL_ERROR_SSL: SSL_R_BAD_LENGTH for a negative count or more than
 * INT_MAX bytes, ERR_R_PASSED_NULL_PARAMETER for written NULL, pieces NULL with count > 0, or a
 * piece that is NULL but not empty. Nothing is written and ssl is as before.
 *
 * Memory: pieces are copied together in 64 KiB of heap that a thread makes at its first such call
 * and frees when it ends; ERR_R_MALLOC_FAILURE where it cannot be had. It is not cleared between
 * calls. Beside it about 60 bytes in the SSL's ex_data while a retry is due, and the 64 KiB with
 * OpenSSL's kernel TLS or SSL_MODE_ASYNC, which read a record's bytes again after SSL_write has
 * returned: the SSL keeps them until the retry is done, and the thread makes others. */
int cleat_ssl_writev(SSL* ssl, struct iovec const* pieces, int count, size_t* written);

/* cleat_ssl_writev_ex is cleat_ssl_writev that takes at most the first max_bytes bytes of the
 * pieces: for a caller that bounds the turn of each connection. Pieces beyond the bound are not
 * read. With a bound, success may mean *written below the sum of the pieces: give the rest to the
 * next call. A retry must have the same bound, or one that covers the same bytes. */
int cleat_ssl_writev_ex(
    SSL* ssl, struct iovec const* pieces, int count, size_t max_bytes, size_t* written);

#ifdef __cplusplus
}
#endif

#endif
