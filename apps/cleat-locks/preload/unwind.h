/* unwind: from one frame of a stack to the one that called it, by the tables that compilers make
 * for exceptions.
 *
 * Unlike _Unwind_Backtrace it does not trust the tables: a sample may stop a thread in hand-written
 * code whose table is wrong there, which must end the walk, not the program. No address is read
 * before it is known to be readable, and no return address is followed that lies in no code.
 */
#ifndef CLEAT_LOCKS_UNWIND_H
#define CLEAT_LOCKS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum
{
#if defined(__x86_64__)
    unwind_stack_pointer = 7, /* Numbers as in DWARF. */
    unwind_registers = 17
#elif defined(__aarch64__)
    unwind_stack_pointer = 31,
    unwind_registers = 33
#endif
};

/* A frame: registers as they are in it. */
struct unwind_frame
{
    uintptr_t registers[unwind_registers];
    uintptr_t pc;
    bool exact; /* pc is where it stopped; otherwise where a call returns to */
    uintptr_t readable_from, readable_to; /* the part of the stack that is known to be readable */
};

/* unwind_context is the frame that a signal interrupted. */
void unwind_context(struct unwind_frame* frame, void const* context);

/* unwind_next goes on to the caller's frame; false: there is none, or it cannot be found. */
bool unwind_next(struct unwind_frame* frame);

/* unwind_here is the frame of the function that calls it: it is always inlined. Registers that a
 * call may change are not in it. */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_frame* frame)
{
    frame->readable_from = frame->readable_to = 0;
    frame->exact = true;
#if defined(__x86_64__)
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq 0(%%rip), %%rcx\n\t"
                     "movq %%rcx, 136(%0)\n\t"
                     :
                     : "a"(frame)
                     : "rcx", "memory");
#elif defined(__aarch64__)
    __asm__ volatile("stp x19, x20, [%0, 152]\n\t"
                     "stp x21, x22, [%0, 168]\n\t"
                     "stp x23, x24, [%0, 184]\n\t"
                     "stp x25, x26, [%0, 200]\n\t"
                     "stp x27, x28, [%0, 216]\n\t"
                     "stp x29, x30, [%0, 232]\n\t"
                     "mov x9, sp\n\t"
                     "str x9, [%0, 248]\n\t"
                     "adr x9, .\n\t"
                     "str x9, [%0, 264]\n\t"
                     :
                     : "r"(frame)
                     : "x9", "memory");
#endif
}

#endif
