/* maps: the process's memory map, which turns addresses into names, beside its trace. */
#ifndef CLEAT_LOCKS_MAPS_H
#define CLEAT_LOCKS_MAPS_H

#include <stddef.h>
#include <stdint.h>

/* name_maps names the map's file, from the trace's name without ".trace". */
void name_maps(char const* trace, size_t size);

/* forget_maps is called in a new process. */
void forget_maps(void);

/* write_maps writes the memory map as it is now. */
void write_maps(void);

/* refresh_maps writes the map again where the last time was a second ago or more. */
void refresh_maps(uint64_t now);

#endif
