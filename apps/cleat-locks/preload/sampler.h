/* sampler: a timer of each thread's CPU time. */
#ifndef CLEAT_LOCKS_SAMPLER_H
#define CLEAT_LOCKS_SAMPLER_H

extern int sampler_signal;
void sampler_prepare(void);
void sampler_begin(void); /* Of the calling thread. */
void sampler_end(void);

#endif
