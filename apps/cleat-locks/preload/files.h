/* files: what the recorder does with files, without libc's functions for that. */
#ifndef CLEAT_LOCKS_FILES_H
#define CLEAT_LOCKS_FILES_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Files by the kernel's own calls: libc's are places where a thread may be cancelled, and the
 * program may have none there, with a lock held. */
static inline int open_file(char const* name, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags | O_CLOEXEC, 0644);
}

static inline ssize_t read_file(int file, void* buffer, size_t size)
{
    return syscall(SYS_read, file, buffer, size);
}

static inline void close_file(int file)
{
    syscall(SYS_close, file);
}

/* put_number writes a number in decimal, and gives where its zero is. */
static inline char* put_number(char* text, unsigned long number)
{
    char digits[24];
    int size = 0;
    do
        digits[size++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (size > 0)
        *text++ = digits[--size];
    *text = '\0';
    return text;
}

#endif
