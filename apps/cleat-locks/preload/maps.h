/* maps: the process's memory map, which turns addresses into names, beside its trace. */
#ifndef CLEAT_LOCKS_MAPS_H
#define CLEAT_LOCKS_MAPS_H

#include <stddef.h>
#include <stdint.h>

void name_maps(char const* trace, size_t size); /* The trace's name, less .trace. */
void forget_maps(void);                         /* In a new process. */
void write_maps(void);
void refresh_maps(uint64_t now); /* Writes it again, when that is due. */

#endif
