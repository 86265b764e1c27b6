// subject: the stories of the program that cleat-locks is tested with which have a file of their
// own, and what they share with the others. subject.cpp says what each is.

#pragma once

#include <cstdint>

namespace subject {

/// now_ns is the steady clock.
[[nodiscard]] std::uint64_t now_ns();

/// touch_mutex locks one mutex of the process, and unlocks it, so often.
void touch_mutex(unsigned times);

void sequences(unsigned times);
void timeouts(std::uint64_t ms);
void handlers(std::uint64_t ms, bool jump, bool apart);

} // namespace subject
