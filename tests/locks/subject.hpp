// subject: the modes of the test program that are in other files than subject.cpp, and their common
// functions. subject.cpp describes the modes.

#pragma once

#include <cstdint>

#include <time.h>

namespace subject {

/// now_ns is the steady clock.
[[nodiscard]] std::uint64_t now_ns();

/// touch_mutex locks one mutex of the process, and unlocks it, so often.
void touch_mutex(unsigned times);

/// pass sleeps for at least so long; the caller measures how long it took.
void pass(std::uint64_t ns);

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
void sequences(unsigned times);
void timeouts(unsigned times);
void handlers(unsigned times, bool jump, bool apart);

} // namespace subject
