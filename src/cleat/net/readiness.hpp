// readiness: who waits for which descriptor, on one epoll set for each worker.

#pragma once

#include <cleat/core/error.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/net/priority.hpp>

#include <array>
#include <cstdint>
#include <memory>

#include <sys/epoll.h>

namespace cleat::net {

/// waiter is what is woken when a descriptor becomes ready. It is a member of what waits (a
/// coroutine's frame, an operation), so waiting allocates nothing. Who waits for several things
/// forgets the others when it is woken for one.
struct waiter
{
    void (*wake)(waiter&, error_code) noexcept = nullptr;
};

/// readiness knows what is ready. Each descriptor is registered once, edge-triggered, and what an
/// event said is remembered until a system call has used it up: no system call re-arms anything.
///
/// One thread. Asio's own reactor makes one epoll_ctl for each wait on a descriptor and two calls
/// more for each socket that it did not open itself: 8 of 26 calls of a handshake (docs/decisions).
class readiness
{
public:
    class entry;
    struct entry_deleter;

    /// Throws std::system_error when the kernel has no epoll set to give.
    readiness();
    readiness(readiness&&) = delete;
    ~readiness();

    /// wait waits for events for at most timeout_ms (-1: for ever; 0: not at all).
    void wait(int timeout_ms) noexcept;

    /// dispatch wakes who waits for what the last wait found.
    void dispatch() noexcept;

    /// cancel_all wakes whoever waits for any entry, with ec.
    void cancel_all(error_code ec) noexcept;

    /// native_handle is the epoll set's own descriptor: readable when wait(0) has something to do.
    [[nodiscard]] int native_handle() const noexcept { return epoll_.get(); }

private:
    void bury() noexcept;

    unique_fd epoll_;
    entry* first_ = nullptr;  // All entries that are not closed by their owners.
    entry* buried_ = nullptr; // Closed during a dispatch that may still hold events for them.
    bool dispatching_ = false;
    int found_ = 0;
    std::array<epoll_event, static_cast<std::size_t>(limits::events_per_wait)> events_;
};

/// readiness::entry is one descriptor's registration. Made by register_with, owned through
/// entry_ptr.
class readiness::entry
{
public:
    /// trigger says how events are told: edge once each, which is right for who reads until there
    /// is no more; level as long as there is something, for who takes one thing at a time.
    enum class trigger : std::uint8_t
    {
        edge,
        level
    };

    entry(readiness& in, unique_fd fd, trigger how = trigger::edge) noexcept;
    entry(entry&&) = delete;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

    /// readable, writable: an event said so and nothing has used it up yet. An unregistered
    /// descriptor has not been asked.
    [[nodiscard]] bool readable() const noexcept { return (ready_ & (EPOLLIN | EPOLLERR)) != 0; }
    [[nodiscard]] bool writable() const noexcept { return (ready_ & (EPOLLOUT | EPOLLERR)) != 0; }

    /// ended: the peer's FIN has come, and no error: a short read now is the last one.
    [[nodiscard]] bool ended() const noexcept
    {
        return (ready_ & EPOLLRDHUP) != 0 && (ready_ & EPOLLERR) == 0;
    }

    /// broken: the peer has reset the connection, or the network has given it up.
    [[nodiscard]] bool broken() const noexcept { return (ready_ & EPOLLERR) != 0; }

    /// use_up_read, use_up_write forget the event: the caller is about to read or write until the
    /// kernel has no more to give or take, or has just done so, and what comes later is a new
    /// event. Who makes no such call leaves the event alone, or nobody will hear of it.
    void use_up_read() noexcept { ready_ &= ~static_cast<std::uint32_t>(EPOLLIN); }
    void use_up_write() noexcept { ready_ &= ~static_cast<std::uint32_t>(EPOLLOUT); }

    /// more_to_read takes use_up_read back: the read stopped before the kernel had no more.
    void more_to_read() noexcept { ready_ |= EPOLLIN; }

    /// received, sent say what a system call has just done: all that it was asked for, and there
    /// may be more, or less, and then the event is used up. FIN stays something to read.
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

    /// wait_readable, wait_writable: wake w, once, when the descriptor is; at once is not possible,
    /// so ask readable() first. One waiter for each at a time. An error is the kernel refusing to
    /// watch.
    [[nodiscard]] error_code wait_readable(waiter& w) noexcept;
    [[nodiscard]] error_code wait_writable(waiter& w) noexcept;

    /// wait_broken wakes w, once, when the connection breaks: for who is not to read or write just
    /// now. One waiter at a time; ask broken() first.
    [[nodiscard]] error_code wait_broken(waiter& w) noexcept;

    /// priority of what waits for this descriptor, from the next wake-up on.
    [[nodiscard]] net::priority priority() const noexcept { return priority_; }
    void set_priority(net::priority p) noexcept { priority_ = p; }

    /// forget takes w off this entry. It is not woken.
    void forget(waiter& w) noexcept;

    /// cancel wakes whoever waits, with ec.
    void cancel(error_code ec) noexcept;

    /// unwatch takes the descriptor out of the epoll set until the next wait.
    void unwatch() noexcept;

    /// close closes the descriptor and wakes nobody.
    void close() noexcept;

private:
    friend class readiness;

    error_code watch(std::uint32_t events) noexcept;
    void on_events(std::uint32_t events) noexcept;
    void wake(waiter*& slot) noexcept;

    readiness* in_;
    waiter* reader_ = nullptr;
    waiter* writer_ = nullptr;
    waiter* watcher_ = nullptr; // Waits for the connection to break.
    entry* previous_ = nullptr;
    entry* next_ = nullptr; // Stays behind when the entry is buried, so that who walks can walk on.
    entry* next_buried_ = nullptr;
    unique_fd fd_;
    std::uint32_t watched_ = 0; // What epoll was told to watch; 0: it does not know the descriptor.
    std::uint32_t ready_ = 0;
    trigger how_;
    net::priority priority_ = net::priority::established;
};

/// readiness::entry_deleter closes the descriptor, and frees the entry once no event can point to
/// it.
struct readiness::entry_deleter
{
    void operator()(entry* e) const noexcept;
};
using entry_ptr = std::unique_ptr<readiness::entry, readiness::entry_deleter>;

} // namespace cleat::net
