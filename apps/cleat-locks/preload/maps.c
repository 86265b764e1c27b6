#include "files.h"
#include "hash.h"
#include "maps.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Names are made once: a stack may be as small as a signal handler's. */
static char maps_name[4096 + 64];
static char maps_new_name[4096 + 64];
static char maps_old_name[4096 + 64]; /* Ends with a number. */

static atomic_flag maps_being_written = ATOMIC_FLAG_INIT;

/* A hash of the code in the map that was written last. A map with other code is kept beside the new
 * one: a library may be unloaded by now, and its functions are in stacks. */
static uint64_t code_mapped;
static unsigned maps_kept;

enum
{
    maps_kept_max = 64
};

struct code_notes
{
    uint64_t all;
    uint64_t line;
    unsigned words; /* of the line so far */
    bool runs;      /* its rights have an x */
    bool of_file;
};

/* note_code adds a part of a map's text to the hash, of which only lines with a file's code count.
 */
static void note_code(struct code_notes* notes, char const* text, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        char const c = text[i];
        if (c == '\n') {
            if (notes->runs && notes->of_file)
                notes->all = mix(notes->all, notes->line);
            *notes = (struct code_notes){.all = notes->all};
            continue;
        }
        notes->line = mix(notes->line, (unsigned char)c);
        notes->words += c == ' ';
        notes->runs = notes->runs || (notes->words == 1 && c == 'x');
        notes->of_file = notes->of_file || c == '/';
    }
}

static void keep_old_maps(uint64_t code)
{
    if (code_mapped != 0 && code != code_mapped && maps_kept < maps_kept_max) {
        char* const number = maps_old_name + strlen(maps_name) + 1;
        put_number(number, ++maps_kept);
        rename(maps_name, maps_old_name);
    }
    code_mapped = code;
}

void write_maps(void)
{
    static char block[4096];
    if (atomic_flag_test_and_set(&maps_being_written))
        return;
    int const error = errno;
    /* The thread's, for the process's map is empty where main has called pthread_exit. */
    int const from = open_file("/proc/thread-self/maps", O_RDONLY);
    int const to = open_file(maps_new_name, O_WRONLY | O_CREAT | O_TRUNC);
    ssize_t got = 0;
    struct code_notes notes = {.all = 1};
    while (from >= 0 && to >= 0 && (got = read_file(from, block, sizeof block)) > 0) {
        if (syscall(SYS_write, to, block, (size_t)got) != got)
            break;
        note_code(&notes, block, (size_t)got);
    }
    if (to >= 0 && got == 0 && notes.all != 1) {
        keep_old_maps(notes.all);
        rename(maps_new_name, maps_name);
    }
    if (from >= 0)
        close_file(from);
    if (to >= 0)
        close_file(to);
    errno = error;
    atomic_flag_clear(&maps_being_written);
}

/* The map is read again after a second, so that code mapped later has names too. dlopen depends on
 * its caller, so this library cannot wrap it. */
static _Atomic uint64_t maps_due_ns;

void refresh_maps(uint64_t now)
{
    uint64_t due = atomic_load_explicit(&maps_due_ns, memory_order_relaxed);
    if (now >= due && atomic_compare_exchange_strong(&maps_due_ns, &due, now + 1000000000u))
        write_maps();
}

void name_maps(char const* trace, size_t size)
{
    memcpy(maps_name, trace, size);
    memcpy(maps_new_name, trace, size);
    memcpy(maps_old_name, trace, size);
    strcpy(maps_name + size, ".maps");
    strcpy(maps_new_name + size, ".maps.new");
    strcpy(maps_old_name + size, ".maps.");
}

void forget_maps(void)
{
    atomic_flag_clear(&maps_being_written); /* A thread of the parent may have set it. */
    code_mapped = maps_kept = 0;
}
