// subject: the modes of the test program that are in other files than subject.cpp, and their common
// functions. subject.cpp describes the modes.

#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>
#include <time.h>

namespace subject {

/// now_ns is the steady clock: the kernel's, or with SUBJECT_CLOCK=stepped in the environment one
/// that stands still except in pass. The recorder reads the same clock.
[[nodiscard]] std::uint64_t now_ns();

/// pass lets so much time pass: it steps the clock, or sleeps for at least so long.
void pass(std::uint64_t ns);

/// cpu_ns is the calling thread's CPU time, always by the kernel's clock.
[[nodiscard]] std::uint64_t cpu_ns();

/// own_id is the calling thread's number in /proc.
[[nodiscard]] pid_t own_id();

/// until_blocked returns once a thread is blocked in the kernel on a lock, a condition or a
/// semaphore. The recorder has read the clock for that wait by then.
void until_blocked(pid_t thread, void const* object, std::size_t size);

template <typename Object>
void until_blocked(pid_t thread, Object const& object)
{
    until_blocked(thread, &object, sizeof object);
}

/// touch_mutex locks one mutex of the process, and unlocks it, so often.
void touch_mutex(unsigned times);

/// in_seconds is a deadline by a clock.
[[nodiscard]] timespec in_seconds(clockid_t clock, time_t seconds);

void unasked(std::uint64_t ms);
void callers(unsigned times);
void uneven(unsigned threads, std::uint64_t first_us);
void named();
void late_words(unsigned threads);
void closes(char const* file);
void clears();
void c11(unsigned times);
void churns(unsigned count);
void unloads(char const* library, std::uint64_t ms);
/// locker_in opens a library, and gives its function that locks a mutex of its own so often.
/// `opened` gets the library's handle. A failure ends the process.
using locker = void (*)(unsigned);
[[nodiscard]] locker locker_in(char const* library, void*& opened);

void ways(std::uint64_t ms);
void old_condition(unsigned times);
void opens(char const* library, unsigned times);
void deadlock(std::uint64_t ms);
void unreadable();
void rare(unsigned times, unsigned every, std::uint64_t brief_us, std::uint64_t long_us);
void tries(std::uint64_t ms);
void gives_up(std::uint64_t ms);
void wrapped(unsigned times);
void inverted(bool waits);
void crowded(unsigned times, std::uint64_t hold_us);
void phases();
void futex_of_its_own(std::uint64_t ms);
void unseen(std::uint64_t ms);
void sequences(unsigned times);
void timeouts(unsigned times);
void handlers(unsigned times, bool jump, bool apart);

} // namespace subject
