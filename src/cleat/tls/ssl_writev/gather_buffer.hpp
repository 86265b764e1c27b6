// gather_buffer: where a gather write copies pieces together. Not a public header.
//
// A thread keeps one buffer from call to call, so that a small message costs no allocation. A call
// takes it and returns it at its end. A call inside a call (a BIO that writes TLS itself) finds
// none and allocates its own. Two calls never share a buffer.

#pragma once

#include <memory>
#include <utility>

namespace cleat::tls::writev {

/// kept_buffer is the buffer that a thread keeps.
struct kept_buffer
{
    unsigned char* bytes = nullptr; // null while a call has it, or before the first
    bool may_keep = false;          // false before the first call, and while the thread ends
};
extern constinit thread_local kept_buffer thread_buffer;

/// take_buffer takes the thread's buffer, of gather_size_max bytes that are not cleared, or
/// allocates one; null where memory is short.
[[nodiscard]] inline unsigned char* take_buffer() noexcept;

/// return_buffer gives a buffer back to the thread. Null is allowed.
void return_buffer(unsigned char* bytes) noexcept;

/// free_buffer clears a buffer and frees it. Null is allowed.
void free_buffer(unsigned char* bytes) noexcept;

struct buffer_deleter
{
    void operator()(unsigned char* bytes) const noexcept { free_buffer(bytes); }
};
using buffer_ptr = std::unique_ptr<unsigned char[], buffer_deleter>;

/// gather_buffer is the buffer of one call. bytes() takes or allocates it when it is first needed.
class gather_buffer
{
public:
    gather_buffer() = default;
    /// The call has already taken these bytes from the thread.
    explicit gather_buffer(unsigned char* taken) noexcept : bytes_{taken} {}
    gather_buffer(gather_buffer const&) = delete;
    gather_buffer& operator=(gather_buffer const&) = delete;
    ~gather_buffer() { return_buffer(bytes_); }

    /// bytes is the buffer, or null where memory is short.
    [[nodiscard]] unsigned char* bytes() noexcept
    {
        if (bytes_ == nullptr)
            bytes_ = take_buffer();
        return bytes_;
    }

    /// take_over makes `held` the call's buffer, with its contents.
    void take_over(buffer_ptr held) noexcept
    {
        return_buffer(bytes_);
        bytes_ = held.release();
    }

    /// release gives the buffer to a caller that needs it longer than the call.
    [[nodiscard]] buffer_ptr release() noexcept
    {
        return buffer_ptr{std::exchange(bytes_, nullptr)};
    }

private:
    unsigned char* bytes_ = nullptr;
};

[[nodiscard]] unsigned char* allocate_buffer() noexcept;

inline unsigned char* take_buffer() noexcept
{
    unsigned char* const kept = std::exchange(thread_buffer.bytes, nullptr);
    return kept != nullptr ? kept : allocate_buffer();
}

} // namespace cleat::tls::writev
