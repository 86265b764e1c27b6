#include "clock.h"
#include "thread_state.h"

#include <sys/prctl.h>

__thread struct thread_state self;

/* A handler that interrupts the recorder may never return: it may jump (siglongjmp). Then the
 * recorder's frame is gone, and sooner or later the stack ends above where it was. A handler that
 * is still at work is below it, or on the alternate signal stack. */
bool work_abandoned(uintptr_t stack)
{
    stack_t alternate;
    if (sigaltstack(NULL, &alternate) != 0)
        return false;
    bool const is_alternate = (alternate.ss_flags & SS_ONSTACK) != 0;
    bool const was_alternate = self.busy_from - (uintptr_t)alternate.ss_sp < alternate.ss_size;
    bool const gone = is_alternate == was_alternate ? stack >= self.busy_from : was_alternate;
    if (gone)
        self.busy = 0;
    return gone;
}

void name_thread(struct trace_thread* block)
{
    prctl(PR_GET_NAME, block->name);
}

void note_progress(struct trace_thread* block)
{
    block->cpu_ns = own_cpu_ns() - self.ended_cpu_ns;
    block->seen_ns = now_ns();
    name_thread(block);
}
