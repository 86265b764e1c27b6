/* copies: what memcpy and its like do. The recorder is these functions for the program, so libc's
 * are out of reach. A compiler may not make calls of them to the functions that they are a part of.
 */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_COPIES_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_COPIES_H

#include <stddef.h>

/* copy_forward begins with the first byte: `to` may be in front of `from` and overlap it. */
void copy_forward(char* to, char const* from, size_t size);

/* copy_backward begins with the last byte. */
void copy_backward(char* to, char const* from, size_t size);

void fill_memory(char* to, char value, size_t size);

#endif
