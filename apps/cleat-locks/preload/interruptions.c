/* How often a thread was interrupted: the kernel took its core away though it wanted to go on.
 *
 * The kernel counts that (ru_nivcsw), but to ask costs a system call. Most of the time nothing has
 * happened since the last one, and restartable sequences (rseq, Linux 4.18; glibc registers them
 * from 2.35 on) say so for free: a thread may leave a pointer to a piece of code where the kernel
 * finds it, and when the kernel stops the thread outside of that code, or sends it a signal, it
 * sets the pointer to zero. The piece of code that is pointed to here is none that ever runs. So as
 * long as the pointer is there, what the kernel said last is still so.
 */
#include "interruptions.h"
#include "thread_state.h"

#include <stddef.h>
#include <sys/resource.h>

/* Of <linux/rseq.h>, whose spelling differs between versions: what the kernel and the thread have
 * in common, as far as it is needed here, and a piece of code. */
struct rseq_area
{
    uint32_t cpu_id_start;
    int32_t cpu_id; /* below 0: this thread is not registered */
    uint64_t piece;
};

struct rseq_piece
{
    uint32_t version;
    uint32_t flags;
    uint64_t start;
    uint64_t size;
    uint64_t abort;
} __attribute__((aligned(32)));

/* glibc's. A size of 0: it has not registered. */
extern ptrdiff_t const __rseq_offset __attribute__((weak));
extern unsigned const __rseq_size __attribute__((weak));

#if defined(__x86_64__)
#define SIGNATURE 0x53053053u
#elif defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#endif

/* The kernel ends a program whose piece of code goes on, when it is broken off, at a place that is
 * inside of it, or that has no signature before it. */
static struct
{
    uint32_t never_run;
    uint32_t signature;
    uint32_t nor_this;
} const land = {0, SIGNATURE, 0};

static struct rseq_piece const nowhere = {
    .start = (uintptr_t)&land.never_run,
    .size = sizeof land.never_run,
    .abort = (uintptr_t)&land.nor_this};

static bool known;

void interruptions_prepare(struct trace_header* header)
{
    known = &__rseq_size && &__rseq_offset && __rseq_size >= sizeof(struct rseq_area);
    header->interruptions = known;
}

uint64_t interruptions(void)
{
    /* Two system calls for each timed hold are more than all the rest: then better not at all. */
    if (UNLIKELY(!known))
        return 0;
    struct rseq_area volatile* const area =
        (struct rseq_area volatile*)((char*)__builtin_thread_pointer() + __rseq_offset);
    uint64_t const ours = (uintptr_t)&nowhere;
    uint64_t const there = area->cpu_id >= 0 ? area->piece : 1;
    if (there == ours)
        return self.interruptions;
    /* Somebody else's may be in use. And the pointer first: what happens after it is noticed. */
    if (there == 0)
        area->piece = ours;
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) == 0)
        self.interruptions = (uint64_t)used.ru_nivcsw;
    return self.interruptions;
}
