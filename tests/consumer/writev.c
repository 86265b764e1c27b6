/* The C interface from C: its header is C11, needs no header of a TLS library, and links. */

#include <cleat/ssl_writev.h>

static int (*volatile gather)(SSL*, struct iovec const*, int, size_t*) = cleat_ssl_writev;

int main(void)
{
    return gather == NULL;
}
