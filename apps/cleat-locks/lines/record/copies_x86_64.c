#include "copies.h"

void copy_forward(char* to, char const* from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

void copy_backward(char* to, char const* from, size_t size)
{
    for (size_t i = size; i > 0; --i)
        to[i - 1] = from[i - 1];
}

void fill_memory(char* to, char value, size_t size)
{
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
}
