// gather_room: where a gather write copies pieces together. Not a public header.
//
// A thread keeps one room from call to call, so that a small message costs no allocation. A call
// takes it and gives it back at its end; a call inside a call (a BIO that writes TLS itself) finds
// none and makes one of its own. Two calls never share a room, whatever runs on the thread between.

#pragma once

#include <memory>
#include <utility>

namespace cleat::tls::writev {

/// kept_room is the room that a thread keeps.
struct kept_room
{
    unsigned char* bytes = nullptr; // null while a call has it, or before the first
    bool keeps = false;             // false before the first call, and while the thread ends
};
extern constinit thread_local kept_room thread_room;

/// take_room takes the thread's room, of gather_size_max bytes that are never cleared, or makes
/// one; null where memory is short.
[[nodiscard]] inline unsigned char* take_room() noexcept;

/// give_room gives a room back, or null.
void give_room(unsigned char* bytes) noexcept;

/// free_room clears a room and frees it; null is none.
void free_room(unsigned char* bytes) noexcept;

struct room_deleter
{
    void operator()(unsigned char* bytes) const noexcept { free_room(bytes); }
};
using room_ptr = std::unique_ptr<unsigned char[], room_deleter>;

/// gather_room is a room for the time of a call. It is made when it is asked for its bytes.
class gather_room
{
public:
    gather_room() = default;
    /// The call has taken these bytes already.
    explicit gather_room(unsigned char* taken) noexcept : bytes_{taken} {}
    gather_room(gather_room const&) = delete;
    gather_room& operator=(gather_room const&) = delete;
    ~gather_room() { give_room(bytes_); }

    /// bytes are the room's, or null where memory is short.
    [[nodiscard]] unsigned char* bytes() noexcept
    {
        if (bytes_ == nullptr)
            bytes_ = take_room();
        return bytes_;
    }

    /// take_over makes `held` the call's room, and what is in it stays there.
    void take_over(room_ptr held) noexcept
    {
        give_room(bytes_);
        bytes_ = held.release();
    }

    /// release hands the room over to somebody who needs it longer than the call.
    [[nodiscard]] room_ptr release() noexcept { return room_ptr{std::exchange(bytes_, nullptr)}; }

private:
    unsigned char* bytes_ = nullptr;
};

[[nodiscard]] unsigned char* make_room() noexcept;

inline unsigned char* take_room() noexcept
{
    unsigned char* const kept = std::exchange(thread_room.bytes, nullptr);
    return kept != nullptr ? kept : make_room();
}

} // namespace cleat::tls::writev
