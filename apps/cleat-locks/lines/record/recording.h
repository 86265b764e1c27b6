/* recording: the recorder's file, and whether this process writes into it. */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_RECORDING_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_RECORDING_H

#include "lines_format.h"

#include <stdbool.h>

/* recording is the mapped file; null where this process is not recorded. */
extern struct lines_file* recording;

/* write_lines_map puts the process's memory map into the file: libraries may have come since. */
void write_lines_map(void);

#endif
