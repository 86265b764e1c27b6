#include "copies.h"

void copy_forward(char* to, char const* from, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        to[i] = from[i];
}

void copy_backward(char* to, char const* from, size_t size)
{
    for (size_t i = size; i > 0; --i)
        to[i - 1] = from[i - 1];
}

void fill_memory(char* to, char value, size_t size)
{
    for (size_t i = 0; i < size; ++i)
        to[i] = value;
}
