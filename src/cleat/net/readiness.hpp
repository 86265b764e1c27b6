// readiness: waits for descriptors, on one epoll set for each worker.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/priority.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>

#include <sys/epoll.h>

namespace cleat::net {

/// waiter is woken when a descriptor becomes ready. It is a member or base of an object that exists
/// anyway (an awaiter in a coroutine's frame, an operation), so a wait allocates nothing. A waiter
/// that waits on several entries and is woken by one must call forget on the others.
struct waiter
{
    /// Called once for each wait, on the worker's thread. An error: the wait was cancelled.
    void (*wake)(waiter&, error_code) noexcept = nullptr;
};

/// readiness stores which descriptors are ready. Each descriptor is added to the epoll set once,
/// edge-triggered. An event makes its entry readable or writable, and the entry stays so until a
/// system call has found the socket drained or full: the event is then used up. So a wait needs no
/// system call of its own.
///
/// One thread. Asio's reactor makes one epoll_ctl for each wait on a descriptor, and two calls more
/// for each socket that it did not open itself: 8 of a handshake's 26 system calls
/// (docs/decisions/own-epoll-set.md).
class readiness
{
public:
    class entry;
    struct entry_deleter;

    /// Throws std::system_error when the kernel cannot make an epoll set.
    readiness();
    readiness(readiness&&) = delete;
    ~readiness();

    /// for_ever is a timeout that does not end.
    static constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();
    /// wait collects events, for at most `timeout`; for_ever, or 0: without waiting.
    void wait(std::chrono::nanoseconds timeout) noexcept;

    /// unheard is the treatment of events that have no waiter.
    enum class unheard : std::uint8_t
    {
        keep,
        unwatch
    };
    /// dispatch wakes the waiters of the events that the last wait collected. A descriptor with
    /// trigger::level that has an event and no waiter is reported by every wait. With
    /// unheard::unwatch it is not reported again before it has a waiter, so that a wait does not
    /// end too early.
    void dispatch(unheard events = unheard::keep) noexcept;

    /// cancel_all wakes all waiters of all entries, with ec.
    void cancel_all(error_code ec) noexcept;

    /// native_handle is the epoll set's own descriptor: readable when a wait would find an event.
    [[nodiscard]] int native_handle() const noexcept { return epoll_.get(); }

private:
    void free_closed() noexcept;

    unique_fd epoll_;
    entry* first_ = nullptr;  // All entries, except those that their owners have destroyed.
    entry* closed_ = nullptr; // Destroyed during a dispatch, which may still hold events for them.
    bool dispatching_ = false;
    unheard unheard_ = unheard::keep;
    int found_ = 0;
    std::array<epoll_event, static_cast<std::size_t>(limits::events_per_wait)> events_;
};

/// readiness::entry is one descriptor's registration. It is owned through entry_ptr.
class readiness::entry
{
public:
    /// trigger is epoll's. edge reports an event once, to a caller that reads until the socket is
    /// drained. level reports it as long as the descriptor is ready, to a caller that takes one
    /// connection or message at a time.
    enum class trigger : std::uint8_t
    {
        edge,
        level
    };

    /// entry of a descriptor, which it takes over.
    entry(readiness& owner, unique_fd fd, trigger mode = trigger::edge) noexcept;
    entry(entry&&) = delete;

    /// fd is the descriptor; -1 after close.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

    /// readable, writable: there was an event, and no system call has used it up yet. False before
    /// the first wait, which adds the descriptor to the epoll set.
    [[nodiscard]] bool readable() const noexcept { return (ready_ & (EPOLLIN | EPOLLERR)) != 0; }
    [[nodiscard]] bool writable() const noexcept { return (ready_ & (EPOLLOUT | EPOLLERR)) != 0; }

    /// ended: the peer's FIN has come, and no error. A read that gives fewer bytes than asked for
    /// is the last one.
    [[nodiscard]] bool ended() const noexcept
    {
        return (ready_ & EPOLLRDHUP) != 0 && (ready_ & EPOLLERR) == 0;
    }

    /// broken: the connection was reset by the peer or ended by the network (EPOLLERR).
    [[nodiscard]] bool broken() const noexcept { return (ready_ & EPOLLERR) != 0; }

    /// use_up_read, use_up_write make the entry no longer readable or writable, until the next
    /// event. Call them only right before or after a read that drains the socket, or a write that
    /// fills it: a change after that makes a new event. Without the read or write the event is
    /// lost, and a later wait may never end.
    void use_up_read() noexcept { ready_ &= ~static_cast<std::uint32_t>(EPOLLIN); }
    void use_up_write() noexcept { ready_ &= ~static_cast<std::uint32_t>(EPOLLOUT); }

    /// more_to_read undoes use_up_read: the read stopped before the socket was drained.
    void more_to_read() noexcept { ready_ |= EPOLLIN; }

    /// received, sent update the entry after a recv or a send. `all`: the call moved all bytes that
    /// it was given room for, so another call may move more. Otherwise the event is used up, but
    /// after a FIN the entry stays readable: a read has yet to find the end.
    void received(bool all) noexcept
    {
        if (all || ended())
            more_to_read();
        else
            use_up_read();
    }
    void sent(bool all) noexcept
    {
        if (!all)
            use_up_write();
    }

    /// wait_readable, wait_writable wake w, once, at the next event. Check readable() or writable()
    /// first: an event that has come already wakes no waiter. At most one waiter waits to read, and
    /// one to write. The error is epoll_ctl's.
    [[nodiscard]] error_code wait_readable(waiter& w) noexcept;
    [[nodiscard]] error_code wait_writable(waiter& w) noexcept;

    /// wait_broken wakes w, once, when the connection breaks: for a caller that must not read or
    /// write now. One waiter at a time; check broken() first.
    [[nodiscard]] error_code wait_broken(waiter& w) noexcept;

    /// priority of the waits for this descriptor. A new one holds from the next wake-up on.
    [[nodiscard]] net::priority priority() const noexcept { return priority_; }
    void set_priority(net::priority level) noexcept { priority_ = level; }

    /// forget removes w from this entry without waking it.
    void forget(waiter& w) noexcept;

    /// cancel wakes one waiter, with ec: the one that waits to read, else to write, else for a
    /// break.
    void cancel(error_code ec) noexcept;

    /// unwatch takes the descriptor out of the epoll set until the next wait.
    void unwatch() noexcept;

    /// close closes the descriptor and wakes no waiter.
    void close() noexcept;

private:
    friend class readiness;

    error_code watch(std::uint32_t events) noexcept;
    void on_events(std::uint32_t events) noexcept;
    void wake(waiter*& slot) noexcept;

    readiness* owner_;
    waiter* reader_ = nullptr;
    waiter* writer_ = nullptr;
    waiter* watcher_ = nullptr; // Waits for the connection to break.
    entry* previous_ = nullptr;
    entry* next_ = nullptr; // Kept when the entry is closed, so that cancel_all can go on from it.
    entry* next_closed_ = nullptr;
    unique_fd fd_;
    std::uint32_t watched_ = 0; // The events in the epoll set; 0: the descriptor is not in it.
    std::uint32_t ready_ = 0;
    trigger mode_;
    net::priority priority_ = net::priority::established;
};

/// readiness::entry_deleter closes the descriptor, and frees the entry once no event can point to
/// it.
struct readiness::entry_deleter
{
    /// Closes an entry, and frees it when it can.
    void operator()(entry* e) const noexcept;
};
/// entry_ptr owns an entry.
using entry_ptr = std::unique_ptr<readiness::entry, readiness::entry_deleter>;

} // namespace cleat::net
