/* accesses: each access of the program to its memory comes here. */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_ACCESSES_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* note_access: this thread reads or writes `size` bytes, in the code at `site`. */
void note_access(uintptr_t address, size_t size, bool writes, uintptr_t site);

#define SITE ((uintptr_t)__builtin_return_address(0))

#endif
