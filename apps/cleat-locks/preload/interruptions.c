/* How often a thread was interrupted: the kernel took its core away though it was runnable.
 *
 * The kernel counts that (ru_nivcsw), but the count costs a system call. Mostly it has not changed
 * since the last call, and restartable sequences (rseq, Linux 4.18; glibc registers them from 2.35
 * on) show that for free. A thread may leave a pointer to a piece of code for the kernel. When the
 * kernel stops the thread outside of that code, or sends it a signal, it sets the pointer to zero.
 * The code that is pointed to here never runs. So as long as the pointer is there, the last count
 * still holds.
 */
#include "interruptions.h"
#include "thread_state.h"

#include <stddef.h>
#include <sys/resource.h>

/* As in <linux/rseq.h>, whose spelling differs between versions: the beginning of the memory that
 * the kernel and the thread share, and a piece of code. */
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

/* The kernel ends a program whose piece of code has an abort address inside of it, or one without
 * the signature before it. */
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
    /* Two system calls for each timed hold would cost more than the rest of the recorder. */
    if (UNLIKELY(!known))
        return 0;
    struct rseq_area volatile* const area =
        (struct rseq_area volatile*)((char*)__builtin_thread_pointer() + __rseq_offset);
    uint64_t const ours = (uintptr_t)&nowhere;
    uint64_t const there = area->cpu_id >= 0 ? area->piece : 1;
    if (there == ours)
        return self.interruptions;
    /* Another library's pointer may be in use. The pointer is set before the count is read, so that
     * an interruption between the two is noticed. */
    if (there == 0)
        area->piece = ours;
    struct rusage used;
    if (getrusage(RUSAGE_THREAD, &used) == 0)
        self.interruptions = (uint64_t)used.ru_nivcsw;
    return self.interruptions;
}
