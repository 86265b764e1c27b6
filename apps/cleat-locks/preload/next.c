/* All functions are looked up as the library starts: the loader's lookup takes its lock, which
 * another thread may hold for as long as a library's constructor runs in dlopen.
 */
#include "next.h"
#include "thread_state.h"

#include <dlfcn.h>

_Atomic(void*) next_known[next_count];

#define NEXT_ROW(word, name, version) {name, version},
static struct
{
    char const* name;
    char const* version;
} const functions[] = {NEXT_FUNCTIONS(NEXT_ROW)};

void* next_find(enum next_index index)
{
    begin_work();
    void* found = NULL;
    if (functions[index].version)
        found = dlvsym(RTLD_NEXT, functions[index].name, functions[index].version);
    if (!found)
        found = dlsym(RTLD_NEXT, functions[index].name);
    end_work();
    atomic_store_explicit(&next_known[index], found, memory_order_relaxed);
    return found;
}

void next_find_all(void)
{
    for (int index = 0; index < next_count; ++index)
        next_find((enum next_index)index);
}
