// The loop: run what is queued, let Asio run what it has, wait, see which deadlines have passed,
// and give transfers and handshakes their time. A connection that asks for little is served as soon
// as its event is seen, so the longest that it waits is what the others may take between two waits.
//
// Where Asio has nothing outstanding (io_context::poll says so without a system call), the wait is
// one epoll_wait on our own set. Where it has (a timer, a resolver, a socket of the handler's), the
// wait is Asio's, with our set as one of the descriptors that it watches.

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/worker.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::net {
namespace {

// While Asio is in use our set stays in its hands; now and then we look whether Asio still has
// anything else to do.
constexpr unsigned turns_between_looks = 64;

unique_fd new_eventfd()
{
    unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "eventfd"};
    return fd;
}

// run_handler calls what the loop can do without. Want of memory is the one exception that a
// handler may throw: what it was about to do does not happen, and what it owned is gone already.
template <class Function>
void run_handler(Function&& function)
{
    try {
        function();
    } catch (std::bad_alloc const&) {
    }
}

// Asio closes the descriptor that it watches, so it gets one of its own; a program that is executed
// meanwhile gets none.
int copy_of(int fd)
{
    int const copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        throw std::system_error{errno, std::system_category(), "fcntl"};
    return copy;
}

// How much of a quota may be overdrawn.
constexpr auto between_settlements = std::chrono::milliseconds{1};

} // namespace

boost::asio::execution_context& executor::query(boost::asio::execution::context_t) const noexcept
{
    return worker_->io_;
}

bool executor::runs_here() const noexcept
{
    return worker_->thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void executor::push(task_node& node) const noexcept
{
    worker_->push(node);
}

worker::worker(std::size_t number)
    : number_{number}
    , watch_{io_, copy_of(readiness_.native_handle())}
    , wakeup_{new readiness::entry{readiness_, new_eventfd()}}
{
    deadlines_.emplace_back(limits::accept_pause); // Who is out of memory waits that long.
    on_wakeup_.wake = [](waiter&, error_code) noexcept {};
    if (error_code const ec = wakeup_->wait_readable(on_wakeup_))
        throw std::system_error{ec, "epoll_ctl"};
}

worker::~worker()
{
    stopping_ = true;
    end_tasks();
    // Who waits for a descriptor or for Asio goes too, as with any execution context.
    readiness_.cancel_all(boost::asio::error::operation_aborted);
    end_tasks();
    io_.shutdown();
    end_tasks();
}

// The kernel takes what we have used off the quota of our control group, if we have one, at its
// ticks, every 4 ms as a rule. So a loop that never sleeps overdraws its quota, and is kept off its
// core for the longer afterwards. Reading our CPU clock makes the kernel do so now. With 3 ms of
// every 10 the p99 of requests beside a flood of handshakes was 14 to 17 ms without, and is 8 to 9.
void worker::settle_cpu_account() noexcept
{
    if (!any_ready() || now_ - settled_ < between_settlements)
        return;
    settled_ = now_;
    timespec used{};
    static_cast<void>(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used));
}

bool worker::any_ready() const noexcept
{
    return std::ranges::any_of(ready_, [](task_queue const& q) { return !q.empty(); });
}

void worker::end_tasks() noexcept
{
    // Functions own things whose destructors may queue functions.
    for (take_from_others(); any_ready(); take_from_others())
        for (priority const each : {priority::established, priority::bulk, priority::handshake})
            run_some(each, clock::duration::max());
}

void worker::run()
{
    thread_ = std::this_thread::get_id();
    static_cast<void>(scratch::of_this_thread()); // To make it later could fail.
    while (!stopping_.load(std::memory_order_acquire)) {
        ++turns_;
        bool const with_asio = asio_has_work();
        wait_for_events(with_asio);
        expire();
        take_from_others();
        run_some(priority::established, clock::duration::max());
        run_some(priority::bulk, limits::bulk_time);
        run_some(priority::handshake, limits::handshake_time);
        settle_cpu_account();
    }
    // A connection whose turn is queued is not reached by an interrupt before the turn has come;
    // what it refers to may go before the worker does.
    interrupt_all();
    end_tasks();
    thread_ = std::thread::id{};
}

void worker::stop() noexcept
{
    stopping_.store(true, std::memory_order_release);
    std::uint64_t const one = 1;
    // It can only fail when the counter is full, and then it is readable already.
    static_cast<void>(!::write(wakeup_->fd(), &one, sizeof one));
}

void worker::push(task_node& node) noexcept
{
    if (executor{*this}.runs_here()) {
        push_here(node, priority::established);
        return;
    }
    node.next = from_others_.load(std::memory_order_relaxed);
    while (!from_others_.compare_exchange_weak(
        node.next, &node, std::memory_order_release, std::memory_order_relaxed)) {
    }
    std::uint64_t const one = 1;
    static_cast<void>(!::write(wakeup_->fd(), &one, sizeof one));
}

void worker::take_from_others() noexcept
{
    if (from_others_.load(std::memory_order_relaxed) == nullptr)
        return;
    task_node* stack = from_others_.exchange(nullptr, std::memory_order_acquire);
    task_node* in_order = nullptr;
    while (stack != nullptr)
        in_order = std::exchange(stack, std::exchange(stack->next, in_order));
    while (in_order != nullptr) {
        task_node* const node = std::exchange(in_order, in_order->next);
        push_here(*node, priority::established);
    }
}

// What they queue in turn waits until events had their chance.
void worker::run_some(priority which, clock::duration longest) noexcept
{
    task_queue& queue = queue_of(which);
    if (queue.empty())
        return;
    bool const bounded = longest != clock::duration::max();
    time_up_ = bounded ? clock::now() + longest : clock::time_point::max();
    for (task_node const* const last = queue.last();;) {
        task_node& node = queue.pop();
        bool const was_last = &node == last;
        run_handler([&] { node.finish(node, !stopping_.load(std::memory_order_relaxed)); });
        if (was_last || (bounded && time_is_up()))
            return;
    }
}

bool worker::asio_has_work()
{
    if (watching_ && ++turns_with_asio_ % turns_between_looks == 0)
        watch_.cancel();
    io_.restart();
    run_handler([this] { io_.poll(); });
    return !io_.stopped();
}

void worker::wait_for_events(bool with_asio)
{
    int const timeout = timeout_ms();
    if (with_asio)
        wait_with_asio(timeout);
    readiness_.wait(with_asio ? 0 : timeout);
    now_ = clock::now(); // Before anything is told, so that deadlines begin when they should.
    readiness_.dispatch();
    if (wakeup_->readable()) {
        std::uint64_t count = 0;
        wakeup_->use_up_read();
        static_cast<void>(!::read(wakeup_->fd(), &count, sizeof count));
        if (error_code const ec = wakeup_->wait_readable(on_wakeup_))
            throw std::system_error{ec, "epoll_ctl"};
    }
}

void worker::wait_with_asio(int timeout)
{
    if (!watching_)
        run_handler([this] {
            watch_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](error_code) {
                watching_ = false;
            });
            watching_ = true;
        });
    if (!watching_)
        return; // No memory for it: another turn asks again.
    run_handler([&] {
        if (timeout < 0)
            io_.run_one();
        else
            io_.run_one_for(std::chrono::milliseconds{timeout});
    });
}

void worker::arm(deadline& d, std::chrono::milliseconds in)
{
    auto found = std::find_if(deadlines_.begin(), deadlines_.end(), [in](fifo_deadlines const& q) {
        return q.duration() == in;
    });
    if (found == deadlines_.end()) {
        deadlines_.emplace_back(in);
        found = std::prev(deadlines_.end());
    }
    found->arm(d, now_);
}

void worker::interrupt_all() noexcept
{
    interrupted_ = true;
    // A connection that is woken may end, and others with it, so the list is begun anew each time.
    // Every pass raises one more, and none can be added that is not raised already.
    for (interrupt* i = interrupts_; i != nullptr;)
        if (i->raised_ != error::stopped) {
            i->raise(error::stopped);
            i = interrupts_;
        } else {
            i = i->next_;
        }
}

int worker::timeout_ms() noexcept
{
    if (any_ready() || from_others_.load(std::memory_order_relaxed) != nullptr ||
        stopping_.load(std::memory_order_relaxed))
        return 0;
    clock::time_point next = clock::time_point::max();
    for (fifo_deadlines const& queue : deadlines_)
        next = std::min(next, queue.next().value_or(next));
    if (next == clock::time_point::max())
        return -1;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

void worker::expire() noexcept
{
    // The earliest first, also when the loop was late for several. What is armed meanwhile is later
    // than now, so this ends.
    for (;;) {
        fifo_deadlines* earliest = nullptr;
        clock::time_point next = now_;
        for (fifo_deadlines& queue : deadlines_)
            if (auto const expiry = queue.next(); expiry && *expiry <= next) {
                earliest = &queue;
                next = *expiry;
            }
        if (earliest == nullptr)
            return;
        earliest->expire(now_);
    }
}

} // namespace cleat::net
