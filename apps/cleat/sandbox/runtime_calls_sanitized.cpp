// AddressSanitizer looks for the stack's bounds before an exception or an exit: the signal stack,
// and for glibc the limit on the stack and the CPUs. UndefinedBehaviorSanitizer writes an object
// into a pipe to see whether its memory is there. ThreadSanitizer has a thread of its own, which
// may still be starting when the filter is loaded. None of these calls changes another process.

#include "sandbox/runtime_calls.hpp"

#include <initializer_list>

#include <seccomp.h>

namespace cleat::app {

int allow_runtime_calls(void* filter) noexcept
{
    int error = 0;
    for (int const call :
         {SCMP_SYS(sigaltstack), SCMP_SYS(sched_getaffinity), SCMP_SYS(pipe2), SCMP_SYS(write),
          SCMP_SYS(rseq), SCMP_SYS(set_robust_list)})
        if (error == 0)
            error = ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    scmp_arg_cmp const no_new_limit{2, SCMP_CMP_EQ, 0, 0};
    if (error == 0)
        error =
            ::seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, &no_new_limit);
    return error;
}

} // namespace cleat::app
