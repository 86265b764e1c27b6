/* trace_format: the file that the recorder writes and the reporter reads.
 *
 * One file for each process, PID.trace in the trace's folder (PID.2.trace after an exec, and so
 * on). It is a memory map that the recorder works in, so it can be read at any moment, also after a
 * SIGKILL: at worst one counter is one behind. Numbers are in the machine's byte order, times are
 * nanoseconds of CLOCK_MONOTONIC. Beside it is PID.maps, the process's memory map, which turns
 * addresses into names.
 *
 *   struct trace_header
 *   struct trace_slot    [slots_max]     a lock's address, and the threads that have touched it
 *   struct trace_lock    [locks_max]     a lock, or a group of locks, of the report
 *   struct trace_thread  [n]             a block for each thread; the block of a thread that has
 *                                        ended goes to the next new thread
 */
#ifndef CLEAT_LOCKS_TRACE_FORMAT_H
#define CLEAT_LOCKS_TRACE_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
#define CLEAT_LOCKS_ATOMIC(type) type
extern "C" {
#else
#include <stdatomic.h>
#define CLEAT_LOCKS_ATOMIC(type) _Atomic type
#endif

#define TRACE_MAGIC "cleatlk1"

enum
{
    trace_slots_max = 1 << 17,  /* locks at a time */
    trace_locks_max = 1 << 14,  /* locks and groups that are reported */
    trace_threads_max = 4096,   /* threads at a time */
    trace_sites_max = 1 << 11,  /* pairs of lock and call site, in one thread */
    trace_index_max = 1 << 12,  /* call stacks, in one thread */
    trace_words_max = 76 << 10, /* room for their frames */
    trace_waits_for_max = 512,  /* pairs of a site that waited and a hold's site, in one thread */
    trace_orders_max = 256,     /* pairs of locks that one thread took one in the other */
    trace_cycle_max = 8,        /* threads of a deadlock */
    trace_depth_max = 96,       /* frames of a stack; deeper ones end in `truncated` */
    trace_text_max = 4096       /* the program's path, and its arguments */
};

/* What a lock is. */
enum trace_kind
{
    trace_mutex = 1,
    trace_rwlock,
    trace_spin,
    trace_condition,
    trace_semaphore,
    trace_once,
    trace_futex /* the program's own, by libc's syscall() */
};

enum
{
    trace_gone = 100 /* instead of a slot's kind: its lock was destroyed */
};

/* How a lock was acquired. Only a shared acquisition of a read-write lock admits other threads. A
 * wait for a condition releases its mutex, and libc takes it again as the wait ends: that is a
 * hold, and no acquisition by the program. */
enum trace_how
{
    trace_exclusive = 1,
    trace_shared,
    trace_again
};

struct trace_header
{
    char magic[8];
    uint32_t header_size;
    uint32_t slot_size;
    uint32_t lock_size;
    uint32_t thread_size; /* By these four a reader of another version refuses the file. */
    CLEAT_LOCKS_ATOMIC(uint32_t) ready; /* 1: the tables are there. */
    uint32_t cpu_hz;                    /* CPU samples for each second of a thread's CPU; 0: none */
    uint64_t began_ns;
    uint64_t began_realtime_ns;            /* CLOCK_REALTIME */
    CLEAT_LOCKS_ATOMIC(uint64_t) ended_ns; /* 0: it did not end by itself, or has not yet */
    uint64_t gone_ns;  /* when `run` found it ended, where ended_ns is 0; 0: it did not */
    uint64_t clock_ns; /* time between two readings of the clock in a row */
    int32_t pid;
    int32_t parent;                       /* pid of the process that forked or ran it */
    CLEAT_LOCKS_ATOMIC(uint32_t) blocks;  /* of threads, in this file */
    CLEAT_LOCKS_ATOMIC(uint32_t) threads; /* so far */
    CLEAT_LOCKS_ATOMIC(uint32_t) locks;
    uint32_t arguments_size;
    CLEAT_LOCKS_ATOMIC(uint64_t) threads_lost; /* not recorded: no room for their block */
    CLEAT_LOCKS_ATOMIC(uint64_t) slots_lost;   /* acquisitions of locks that found no slot */
    uint32_t interruptions; /* 1: it is known which holds were interrupted; 0: it is not */
    uint32_t line_ps;    /* an acquisition whose cache line comes from another core; 0: unknown */
    int32_t gone_status; /* what waitpid() gave, where gone_ns is set */
    char program[trace_text_max];
    char arguments[trace_text_max]; /* each ends with a zero */
};

/* A lock's address. The lock there may change: an object is destroyed, another is made there. */
struct trace_slot
{
    CLEAT_LOCKS_ATOMIC(uint64_t) address; /* 0: free */
    CLEAT_LOCKS_ATOMIC(uint64_t) threads; /* a bit each, by number modulo 64 */
    CLEAT_LOCKS_ATOMIC(uint32_t) lock;    /* index of its entry + 1; 0: it has none yet */
    uint16_t kind;
    CLEAT_LOCKS_ATOMIC(uint16_t)
    contention;                           /* a thread has waited for it: see contention.h; or 0 */
    CLEAT_LOCKS_ATOMIC(uint64_t) made_at; /* return address of its init; 0: none was seen */
};

enum trace_lock_flags
{
    trace_group = 1,      /* many locks that were made at one place, not one lock */
    trace_first_taken = 2 /* made_at is where the first of them was first taken: no init was seen */
};

struct trace_lock
{
    uint64_t address; /* of a group: its first lock's */
    uint64_t made_at;
    uint32_t kind;
    uint32_t flags;
    CLEAT_LOCKS_ATOMIC(uint64_t) instances;
    CLEAT_LOCKS_ATOMIC(uint64_t) threads;     /* of one lock: a bit each */
    CLEAT_LOCKS_ATOMIC(uint32_t) threads_max; /* of a group: the most that touched one lock */
    CLEAT_LOCKS_ATOMIC(uint32_t) ready;       /* 1: this entry is complete */
};

/* What one thread did with one lock at one call site. The fields that every acquisition changes are
 * in one cache line, for a thread may use hundreds of sites in turn. */
struct trace_site
{
    uint64_t key;       /* 0: free */
    uint64_t return_to; /* where the caller goes on */
    uint32_t lock;      /* index */
    uint32_t how;
    uint64_t acquisitions;
    uint64_t shared;                  /* of these: another thread had touched the lock by then */
    uint64_t contended;               /* of these: had to wait */
    uint64_t failed;                  /* failed tries, and waits that timed out */
    uint64_t attributed_acquisitions; /* of these: part of a stack's weight */
    uint64_t wait_ns;
    uint64_t wait_max_ns;
    uint64_t holds; /* of the sample, for which no thread waited */
    uint64_t hold_ns;
    uint64_t hold_max_ns;    /* of all holds that were timed */
    uint64_t interrupted_ns; /* of hold_ns: the holds in which the thread lost its core */
    uint32_t interrupted;    /* the number of these holds */
    uint32_t unattributed_contended;
    uint64_t unattributed_wait_ns;
    /* Each hold that a thread waited for is timed, from the lock's first wait on. */
    uint64_t waited_holds;
    uint64_t waited_hold_ns;
    uint64_t waited_interrupted_ns;
    uint32_t waited_interrupted;
    uint32_t reserved;
    uint64_t sampled;       /* acquisitions of the sample that began a hold */
    uint64_t inner;         /* those that did not: this thread had the lock already */
    double hold_ns_squares; /* of the holds in hold_ns that were not interrupted, added up */
    uint64_t reserved_too;
} __attribute__((aligned(64)));

/* What a stack stands for. */
enum trace_stack_what
{
    trace_cpu = 1, /* count: samples of CPU time */
    trace_taken    /* count: acquisitions; contended and wait_ns are theirs */
};

/* A call stack in trace_thread::words: this, then `depth` return addresses, the innermost first.
 * The first address of a CPU sample is where it was. */
struct trace_stack
{
    uint64_t hash;
    uint32_t size; /* in words, with the frames; 0: the end of the list */
    uint16_t depth;
    uint8_t what;
    uint8_t truncated;
    uint32_t lock; /* index; for trace_taken */
    uint32_t how;
    uint64_t count;
    uint64_t contended;
    uint64_t wait_ns;
};

enum trace_thread_state
{
    trace_unused = 0,
    trace_running,
    trace_idle /* its thread has ended */
};

/* The time that this thread waited at one of its sites while another thread held the lock, taken at
 * one of the holder's sites. */
struct trace_wait_for
{
    uint32_t waits;       /* 0: free */
    uint32_t site;        /* index of the site that waited */
    uint32_t holder;      /* number of the holder's block */
    uint32_t holder_site; /* index in that block; trace_site_unknown */
    uint64_t ns;
    uint64_t max_ns;
};

enum
{
    trace_site_unknown = 0xffff
};

/* A thread asked for a lock at `site` while it had another lock, which it has taken at `held_site`,
 * and maybe at other sites too. */
struct trace_order
{
    uint32_t times; /* how often it was seen, of the attempts with a stack; 0: free */
    uint32_t held_site;
    uint32_t site;
    uint32_t stack; /* the first word of the stack, + 1, as it asked; 0: none was taken */
};

struct trace_thread
{
    CLEAT_LOCKS_ATOMIC(uint32_t) state; /* enum trace_thread_state */
    uint32_t threads;                   /* that have used this block, one after the other */
    int32_t tid;                        /* of the last one, as the name is */
    uint32_t sites;
    char name[16];
    uint64_t ended_lived_ns; /* lifetimes of its threads that have ended, added up */
    uint64_t ended_cpu_ns;   /* CPU time of these */
    uint64_t began_ns;       /* when the thread that runs was registered */
    uint64_t seen_ns;        /* when its figures were noted last */
    uint64_t cpu_ns;         /* its CPU time then */
    uint64_t cpu_base_ns;    /* its CPU clock as it was registered, which is not in cpu_ns */
    uint64_t samples;        /* of CPU time */
    uint64_t samples_own;    /* of these: in the recorder itself */
    uint64_t sites_lost;     /* acquisitions without room for their site */
    uint64_t stacks_lost;    /* stacks without room */
    uint64_t nested;         /* acquisitions by a signal handler inside the recorder: not counted */
    uint64_t wait_began_ns;  /* when its present wait began */
    uint32_t wait_site;      /* index of the site where it waits, + 1; 0: it does not */
    uint32_t wait_stack;     /* its stack's first word, + 1; 0: none was taken */
    uint32_t words_used;
    uint32_t number;    /* of this block, from 0 */
    int32_t wait_owner; /* the thread that had the lock as the present wait began; 0: unknown */
    uint32_t waits_for_lost; /* waits without room in waits_for */
    uint64_t wait_lock;      /* the lock's address */
    uint32_t wait_kind;
    int32_t cycle[trace_cycle_max]; /* the threads of the cycle that the present wait closed, this
                                       one last: each waits for a lock that the next one has, the
                                       last for one that the first has; 0: none, or the end */
    struct trace_site site[trace_sites_max];
    struct trace_wait_for waits_for[trace_waits_for_max];
    struct trace_order orders[trace_orders_max];
    uint32_t index[trace_index_max]; /* of the stack's first word + 1; by its hash */
    uint64_t words[trace_words_max];
};

#ifdef __cplusplus
}
#endif

#endif
