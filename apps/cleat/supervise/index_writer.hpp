// index_writer: keeps the file of certificate-index up to date.

#pragma once

#include "snapshot/generation.hpp"

#include <atomic>
#include <cstddef>
#include <thread>

namespace cleat::app {

/// index_writer writes the index after a start that has read certificates, after many changes, and
/// at the end. A change of one certificate alone does not write the whole file. The main thread
/// uses it; a thread of lower priority writes.
class index_writer
{
public:
    index_writer() = default;
    index_writer(index_writer&&) = delete;

    /// Waits for the file that is being written.
    ~index_writer();

    /// follow: this configuration is in service now.
    void follow(generation const& present);

    /// finish writes the changes that are not written yet, and waits for the end of that.
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
