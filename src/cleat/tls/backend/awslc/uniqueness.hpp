// uniqueness: tells AWS-LC's RAND_bytes, without locks, whether this memory was copied.
//
// A random generator whose state was copied gives the same numbers twice: in a child after fork(),
// and in a virtual machine that was started from a snapshot. So AWS-LC reads a number that changes
// with every such event, twice in each RAND_bytes. Its own functions for that take two read-write
// locks of the process each time, 24 acquisitions for a TLS 1.3 handshake, on cache lines that all
// cores write. uniqueness.cpp replaces the two functions (docs/decisions/rand-locks.md).

#pragma once

#include <atomic>
#include <cstdint>

namespace cleat::tls::awslc {

/// generation is a number that changes with each event that may have copied its memory. All threads
/// see the same number. No number comes twice, and numbers grow unless the kernel wipes the word
/// while a thread is between two instructions of current().
///
/// It has no lock, so fork() cannot leave one locked in the child.
class generation
{
public:
    /// word is 0, in memory that a child finds zeroed (MADV_WIPEONFORK, madvise(2)).
    explicit generation(std::atomic<std::uint64_t>* word) noexcept : word_{word} {}

    /// current is the number, never 0. machine() returns the number that the hypervisor changes
    /// when it starts a snapshot (SysGenID), or a constant where there is none.
    template <class Machine>
    [[nodiscard]] std::uint64_t current(Machine machine) noexcept
    {
        for (;;) {
            std::uint64_t seen = word_->load(std::memory_order_relaxed);
            std::uint32_t const now = machine();
            if (seen != 0 && static_cast<std::uint32_t>(seen) == now)
                return seen >> 32;
            // An event. The first thread to store its number wins; the others take that number and
            // drop their own, since no number may serve two events. No other memory is read, so
            // no memory order is needed.
            std::uint64_t const next = given_.fetch_add(1, std::memory_order_relaxed) + 1;
            if (word_->compare_exchange_strong(seen, next << 32 | now, std::memory_order_relaxed))
                return next;
        }
    }

private:
    std::atomic<std::uint64_t>* word_;    // The number, and the machine's number that it is for.
    std::atomic<std::uint32_t> given_{0}; // A child continues from it: 4 billion events are enough.
};

/// detect_copies prepares the word, and makes the linker take these functions. Call it before
/// making a context.
void detect_copies() noexcept;

} // namespace cleat::tls::awslc
