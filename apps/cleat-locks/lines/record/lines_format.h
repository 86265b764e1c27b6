/* lines_format: the file that the recorder of cache lines writes, and the report reads.
 *
 * The header, then the tables of stacks and of moves, then the text of the memory map. All numbers
 * are the machine's own. The file is mapped and shared, so it is whole when the program is killed.
 */
#ifndef APPS_CLEAT_LOCKS_LINES_RECORD_LINES_FORMAT_H
#define APPS_CLEAT_LOCKS_LINES_RECORD_LINES_FORMAT_H

#include <stdint.h>

enum
{
    lines_version = 1,
    lines_threads_max = 56,     /* One bit of a word each, beside a number of eight bits. */
    lines_frames_max = 22,      /* Of a stack, the innermost first. */
    lines_stacks_max = 1 << 17, /* A power of two, as is the next. */
    lines_moves_max = 1 << 18,
    lines_probes_max = 1024, /* Places of a table that are tried for one entry. */
    lines_maps_max = 1 << 20,
    lines_name_max = 16,
    lines_accesses_step = 1 << 12 /* A power of two. */
};

#define LINES_MAGIC 0x31736e696c6c6331ull

/* lines_kind is the access that made a cache line move to a thread. */
enum lines_kind
{
    lines_read = 0,  /* Another thread had written the line since this one had it. */
    lines_write = 1, /* Another thread had written the line, or read it. */
    lines_kinds = 2
};

/* lines_thread is one thread; the last of the table is all threads for which there was no room. */
struct lines_thread
{
    uint32_t tid;
    uint32_t reserved;
    uint64_t own_memory;       /* An address on its stack. */
    uint64_t accesses;         /* To memory, since its start: at most lines_accesses_step more. */
    uint64_t accesses_before;  /* Those before the counting began. */
    uint64_t accesses_counted; /* Those until the counting ended; 0: it has not. */
    char name[lines_name_max];
};

struct lines_stack
{
    uint64_t hash; /* 0: a free place. */
    uint32_t depth;
    uint32_t reserved;
    uint64_t frames[lines_frames_max]; /* Return addresses. */
};

/* lines_move is all moves between two threads, by the same code and to the same memory. Numbers of
 * stacks are places in their table and one more; 0 is unknown. */
struct lines_move
{
    uint64_t key; /* 0: a free place. */
    uint64_t count;
    uint64_t
        other_bytes;  /* Moves in which the thread touched no byte that the other had written. */
    uint64_t address; /* Of the first. */
    uint32_t stack;
    uint32_t stack_before; /* Of the write after which the other thread had the line. */
    uint32_t allocated;    /* Where the memory was allocated. */
    uint8_t thread;
    uint8_t thread_before;
    uint8_t kind;
    uint8_t size;
};

struct lines_header
{
    uint64_t magic;
    uint32_t version;
    uint32_t pid;
    uint32_t counts;     /* 1: moves are counted. Any process that maps the file may set it. */
    uint32_t threads;    /* Those that there were, also without a place of their own. */
    uint64_t moves_lost; /* The table had no room. */
    uint64_t stacks_lost;
    uint32_t other_processes; /* Processes of the program that are not recorded. */
    uint32_t ended;           /* 1: the program ended by itself. */
    uint32_t maps_size;
    uint32_t has_counted; /* 1: moves are counted, or were. */
    struct lines_thread thread[lines_threads_max];
};

struct lines_file
{
    struct lines_header header;
    struct lines_stack stacks[lines_stacks_max];
    struct lines_move moves[lines_moves_max];
    char maps[lines_maps_max];
};

#endif
