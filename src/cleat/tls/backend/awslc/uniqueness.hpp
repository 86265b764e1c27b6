// uniqueness: has this memory come to exist twice? Without locks, for AWS-LC's RAND_bytes.
//
// A random generator whose state exists twice gives the same numbers twice: in a child after
// fork(), and in a virtual machine that was started from a snapshot. So AWS-LC asks for a number
// that changes with every such event, twice in each RAND_bytes. Its own answer takes two read-write
// locks of the process each time, 24 acquisitions for a TLS 1.3 handshake, on cache lines that all
// cores write. uniqueness.cpp defines the two functions that ask instead of it
// (docs/decisions/rand-locks.md).

#pragma once

#include <atomic>
#include <cstdint>

namespace cleat::tls::awslc {

/// generation is a number that is another one after each event that may have doubled the memory it
/// is in. All threads have the same; it never comes again, and grows unless the kernel wipes the
/// word while a thread is between two instructions of current().
///
/// Nothing here is a lock, so fork() leaves none locked behind for the child.
class generation
{
public:
    /// word: in memory that the kernel gives to a child as zeros (MADV_WIPEONFORK, madvise(2)), and
    /// 0 now.
    explicit generation(std::atomic<std::uint64_t>* word) noexcept : word_{word} {}

    /// current number, never 0. `machine` reads the number that the hypervisor changes when it
    /// starts a snapshot (SysGenID), or always the same where there is none.
    template <class Machine>
    [[nodiscard]] std::uint64_t current(Machine machine) noexcept
    {
        for (;;) {
            std::uint64_t seen = word_->load(std::memory_order_relaxed);
            std::uint32_t const now = machine();
            if (seen != 0 && static_cast<std::uint32_t>(seen) == now)
                return seen >> 32;
            // An event. Who comes second takes the number of who came first, and its own is lost:
            // a number that was given out once must not be given out for a second event. The word
            // alone is what is read, so no order with other memory is needed.
            std::uint64_t const next = given_.fetch_add(1, std::memory_order_relaxed) + 1;
            if (word_->compare_exchange_strong(seen, next << 32 | now, std::memory_order_relaxed))
                return next;
        }
    }

private:
    std::atomic<std::uint64_t>* word_;    // The number, and the machine's that it was given for.
    std::atomic<std::uint32_t> given_{0}; // A child goes on from here: 4 billion events are enough.
};

/// detect_copies makes ready what RAND_bytes will ask, and makes the linker take our answer: to be
/// called by whatever makes a context.
void detect_copies() noexcept;

} // namespace cleat::tls::awslc
