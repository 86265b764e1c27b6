/* A failed try by itself is no wait. A thread that tries the same lock again, and takes no other
 * meanwhile, waits for it, whether it spins, yields or sleeps between two tries.
 */
#include "clock.h"
#include "contention.h"
#include "locks.h"
#include "tries.h"

enum
{
    pause_ns_max = 100000000 /* a thread that does not try for so long does something else */
};

/* wait_at adds a wait to a site. Its stack is not known any more: a try that fails takes one too,
 * and the reader divides the time among the stacks of the site. */
static void wait_at(struct trace_site* site, uint64_t ns)
{
    site->wait_ns += ns;
    site->unattributed_wait_ns += ns;
    if (ns > site->wait_max_ns)
        site->wait_max_ns = ns;
}

static void forget_tries(void)
{
    self.tries.lock = 0;
    pay_attention();
}

void tries_given_up(void)
{
    if (self.tries.lock == 0)
        return;
    wait_at(self.tries.site, self.tries.last_ns - self.tries.start.began_ns);
    forget_tries();
}

void tries_note(void* lock, struct trace_site* site)
{
    uint64_t const now = now_ns();
    struct contention* const contention = find_contention(find_slot((uintptr_t)lock, false));
    if (contention)
        atomic_fetch_add_explicit(&contention->asked, 1, memory_order_relaxed);
    if (self.tries.lock == (uintptr_t)lock && now - self.tries.last_ns < pause_ns_max) {
        self.tries.last_ns = now;
        return;
    }
    tries_given_up();
    self.tries.lock = (uintptr_t)lock;
    self.tries.site = site;
    self.tries.last_ns = now;
    self.tries.start.contention = NULL;
    self.tries.start.began_ns = now;
    if (contention)
        start_wait(&self.tries.start, contention, now);
    pay_attention();
}

bool tries_succeed(void const* lock, uint64_t now, struct wait_start* start)
{
    if (self.tries.lock == 0)
        return false;
    if (self.tries.lock != (uintptr_t)lock || now - self.tries.last_ns >= pause_ns_max) {
        tries_given_up();
        return false;
    }
    *start = self.tries.start;
    forget_tries();
    return true;
}

void tries_end(void const* lock, struct trace_site* site)
{
    uint64_t const now = now_ns();
    struct wait_start start;
    if (!tries_succeed(lock, now, &start))
        return;
    ++site->contended;
    ++site->unattributed_contended;
    wait_at(site, now - start.began_ns);
    if (self.block)
        attribute_wait(self.block, &start, site, now, 0);
}
