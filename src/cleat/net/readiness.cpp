// Edge-triggered epoll with a memory. An event sets bits in the entry's ready_, and a coroutine
// whose bit is set need not wait. The code that reads or writes clears a bit right before or right
// after the system call that uses the event up. Both orders are right: bits are set in dispatch
// only, so an event that comes in between stays in the kernel. Clearing a bit without that system
// call would lose the event.
//
// A descriptor is added at its first wait, and watched for input only: a new socket is writable,
// and an event for that would wake the worker for nothing. The first wait for output extends the
// watch.

#include <cleat/core/assert.hpp>
#include <cleat/net/readiness.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

namespace cleat::net {
namespace {

constexpr std::uint32_t always = EPOLLIN | EPOLLRDHUP;

} // namespace

readiness::readiness() : epoll_{::epoll_create1(EPOLL_CLOEXEC)}
{
    if (!epoll_)
        throw std::system_error{errno, std::system_category(), "epoll_create1"};
}

readiness::~readiness()
{
    free_closed();
}

void readiness::wait(std::chrono::nanoseconds timeout) noexcept
{
    using namespace std::chrono;
    int const count_max = static_cast<int>(events_.size());
    milliseconds const rounded =
        timeout == for_ever ? milliseconds{-1} : ceil<milliseconds>(timeout);
    int found = -1;
    if (timeout != for_ever && rounded != timeout) { // epoll_wait knows whole milliseconds only.
        seconds const whole = floor<seconds>(timeout);
        timespec const exact{whole.count(), (timeout - whole).count()};
        found = ::epoll_pwait2(epoll_.get(), events_.data(), count_max, &exact, nullptr);
    }
    if (found < 0) { // Linux has epoll_pwait2 since 5.11.
        int const ms = static_cast<int>(std::min<milliseconds::rep>(rounded.count(), INT_MAX));
        found = ::epoll_wait(epoll_.get(), events_.data(), count_max, ms);
    }
    // EINTR counts as no events: signals are handled elsewhere.
    found_ = std::max(found, 0);
}

void readiness::dispatch(unheard events) noexcept
{
    dispatching_ = true;
    unheard_ = events;
    for (int i = 0; i < found_; ++i) {
        epoll_event const& event = events_[static_cast<std::size_t>(i)];
        static_cast<entry*>(event.data.ptr)->on_events(event.events);
    }
    found_ = 0;
    dispatching_ = false;
    free_closed();
}

void readiness::free_closed() noexcept
{
    while (closed_ != nullptr)
        delete std::exchange(closed_, closed_->next_closed_);
}

void readiness::cancel_all(error_code ec) noexcept
{
    dispatching_ = true; // A waiter may close any entry.
    for (entry* e = first_; e != nullptr; e = e->next_) {
        e->cancel(ec);
        e->cancel(ec);
        e->cancel(ec); // Once for the reader, the writer and the waiter for a break.
    }
    dispatching_ = false;
    free_closed();
}

readiness::entry::entry(readiness& owner, unique_fd fd, trigger mode) noexcept
    : owner_{&owner}, next_{std::exchange(owner.first_, this)}, fd_{std::move(fd)}, mode_{mode}
{
    if (next_ != nullptr)
        next_->previous_ = this;
}

error_code readiness::entry::wait_readable(waiter& w) noexcept
{
    CLEAT_ASSERT(reader_ == nullptr);
    if (error_code const ec = watch(always))
        return ec;
    reader_ = &w;
    return {};
}

error_code readiness::entry::wait_writable(waiter& w) noexcept
{
    CLEAT_ASSERT(writer_ == nullptr);
    if (error_code const ec = watch(always | EPOLLOUT))
        return ec;
    writer_ = &w;
    return {};
}

error_code readiness::entry::wait_broken(waiter& w) noexcept
{
    CLEAT_ASSERT(watcher_ == nullptr);
    if (error_code const ec = watch(always)) // epoll always reports errors.
        return ec;
    watcher_ = &w;
    return {};
}

error_code readiness::entry::watch(std::uint32_t events) noexcept
{
    if ((events & ~watched_) == 0)
        return {};
    std::uint32_t const edge = mode_ == trigger::edge ? static_cast<std::uint32_t>(EPOLLET) : 0;
    epoll_event event{.events = events | watched_ | edge, .data = {.ptr = this}};
    int const operation = watched_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (::epoll_ctl(owner_->epoll_.get(), operation, fd_.get(), &event) != 0)
        return last_system_error();
    watched_ |= events;
    return {};
}

void readiness::entry::unwatch() noexcept
{
    if (watched_ != 0)
        static_cast<void>(::epoll_ctl(owner_->epoll_.get(), EPOLL_CTL_DEL, fd_.get(), nullptr));
    watched_ = 0;
}

void readiness::entry::forget(waiter& w) noexcept
{
    if (reader_ == &w)
        reader_ = nullptr;
    if (writer_ == &w)
        writer_ = nullptr;
    if (watcher_ == &w)
        watcher_ = nullptr;
}

void readiness::entry::cancel(error_code ec) noexcept
{
    // One waiter may wait for several things; its first wake takes it off the others.
    if (waiter* const w = std::exchange(reader_, nullptr); w != nullptr) {
        forget(*w);
        w->wake(*w, ec);
    } else if (waiter* const v = std::exchange(writer_, nullptr); v != nullptr) {
        forget(*v);
        v->wake(*v, ec);
    } else if (waiter* const m = std::exchange(watcher_, nullptr); m != nullptr) {
        m->wake(*m, ec);
    }
}

void readiness::entry::close() noexcept
{
    reader_ = writer_ = watcher_ = nullptr;
    fd_.reset();
}

void readiness::entry::on_events(std::uint32_t events) noexcept
{
    if (!fd_)
        return; // Closed by an earlier event of the same batch.
    // A read finds FIN and errors, so both make the entry readable; an error makes it writable too.
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
        events |= EPOLLIN;
    if ((events & (EPOLLHUP | EPOLLERR)) != 0)
        events |= EPOLLOUT;
    ready_ |= events;
    if (mode_ == trigger::level && reader_ == nullptr && owner_->unheard_ == unheard::unwatch)
        unwatch();
    if ((ready_ & EPOLLIN) != 0)
        wake(reader_);
    // The reader may have closed this entry. Its memory stays until the batch is done.
    if (fd_ && (ready_ & EPOLLOUT) != 0)
        wake(writer_);
    if (fd_ && broken())
        wake(watcher_);
}

void readiness::entry::wake(waiter*& slot) noexcept
{
    waiter* const w = slot;
    if (w == nullptr)
        return;
    forget(*w); // One waiter may wait for several events of this entry.
    w->wake(*w, {});
}

void readiness::entry_deleter::operator()(entry* e) const noexcept
{
    e->close(); // Takes it out of the epoll set too: there is no copy of the descriptor.
    readiness& owner = *e->owner_;
    (e->previous_ != nullptr ? e->previous_->next_ : owner.first_) = e->next_;
    if (e->next_ != nullptr)
        e->next_->previous_ = e->previous_;
    if (!owner.dispatching_) {
        delete e;
        return;
    }
    e->next_closed_ = owner.closed_;
    owner.closed_ = e;
}

} // namespace cleat::net
