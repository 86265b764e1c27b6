/* sampler: a timer of each thread's CPU time. */
#ifndef CLEAT_LOCKS_SAMPLER_H
#define CLEAT_LOCKS_SAMPLER_H

extern int sampler_signal; /* 0: CPU time is not sampled */

/* sampler_prepare is called once, as the library is loaded. */
void sampler_prepare(void);

/* sampler_begin and sampler_end are for the calling thread. */
void sampler_begin(void);
void sampler_end(void);

#endif
