// index_writer: keeps the file of certificate-index up to date.

#pragma once

#include "generation.hpp"

#include <atomic>
#include <cstddef>
#include <thread>

namespace cleat::app {

/// index_writer writes the index after a start that has read certificates, after many changes, and
/// at the end: one certificate's change does not write them all. The main thread uses it; a thread
/// of lower priority writes.
class index_writer
{
public:
    index_writer() = default;
    index_writer(index_writer&&) = delete;

    /// Waits for the file that is being written.
    ~index_writer();

    /// follow takes note of a configuration that is in service now.
    void follow(generation const& present);

    /// finish writes what has changed since, and waits for it.
    void finish(generation const& present);

private:
    void begin(generation const& present);
    void wait();
    void take_back_unwritten() noexcept;

    std::size_t unwritten_ = 0; // Certificates.
    std::size_t begun_ = 0;     // Those that the thread writes, or has written.
    std::atomic<bool> has_failed_{false};
    bool is_first_ = true;
    std::thread thread_;
};

} // namespace cleat::app
