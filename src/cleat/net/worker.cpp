// A pass of the loop: poll Asio, wait for events and dispatch them, expire deadlines, run queued
// functions, then transfers and handshakes, each for a bounded time. An `established` connection is
// served when its event is dispatched, so it waits at most for the time that one pass gives the
// others.
//
// While Asio has no outstanding work (io_context::poll finds that out without a system call), the
// wait is one epoll_wait on our own set. Otherwise (a timer, a resolver, a socket of a handler) the
// wait is Asio's, with our set as one of the descriptors that it watches.

#include <cleat/core/assert.hpp>
#include <cleat/core/limits.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/net/worker.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <new>
#include <ranges>
#include <system_error>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::net {
namespace {

// While Asio is in use it watches our set, which counts as work. Every 64 passes we cancel that
// wait to find out whether Asio has other work left.
constexpr unsigned passes_between_checks = 64;

unique_fd new_eventfd()
{
    unique_fd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!fd)
        throw std::system_error{errno, std::system_category(), "eventfd"};
    return fd;
}

// run_handler calls a function that may fail for lack of memory: std::bad_alloc is the one
// exception that a handler may throw. Its work is then not done, and unwinding has destroyed its
// objects.
template <class Function>
void run_handler(Function&& function)
{
    try {
        function();
    } catch (std::bad_alloc const&) {
    }
}

// Asio closes the descriptor that it watches, so it gets a copy. An exec closes the copy too.
int copy_of(int fd)
{
    int const copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        throw std::system_error{errno, std::system_category(), "fcntl"};
    return copy;
}

std::chrono::nanoseconds cpu_time(clockid_t id) noexcept
{
    timespec used{};
    static_cast<void>(::clock_gettime(id, &used));
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

// How often a busy worker makes the kernel charge its CPU time: see charge_cpu_time.
constexpr auto charge_interval = std::chrono::milliseconds{1};

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
    // Made first: a worker that is out of memory must be able to arm this delay.
    deadlines_.emplace_back(limits::accept_pause);
    on_wakeup_.wake = [](waiter&, error_code) noexcept {};
    if (error_code const ec = wakeup_->wait_readable(on_wakeup_))
        throw std::system_error{ec, "epoll_ctl"};
}

worker::~worker()
{
    stopping_ = true;
    end_tasks();
    // Waits for descriptors and Asio's operations end too, as with any execution context.
    readiness_.cancel_all(boost::asio::error::operation_aborted);
    end_tasks();
    io_.shutdown();
    end_tasks();
}

// The kernel charges CPU time to the quota of our control group, if it has one, at its timer ticks,
// every 4 ms as a rule. So a loop that never sleeps exceeds its quota, and is then throttled for
// longer. Reading our CPU clock makes the kernel charge the time at once. With a quota of 3 ms in
// 10 the p99 of requests beside a flood of handshakes is 8 to 9 ms, and 14 to 17 without this.
void worker::charge_cpu_time() noexcept
{
    if (!any_ready() || now_ - charged_ < charge_interval)
        return;
    charged_ = now_;
    static_cast<void>(cpu_time(CLOCK_THREAD_CPUTIME_ID));
}

void worker::limit_cpu(std::optional<cpu_limit> limit) noexcept
{
    budget_.reset();
    if (limit)
        budget_.emplace(*limit, clock::now(), cpu_time(CLOCK_PROCESS_CPUTIME_ID));
}

// Reading the process's CPU clock takes 0.3 us, and charges its time as charge_cpu_time does.
bool worker::has_cpu_time() noexcept
{
    auto const lower = ready_ | std::views::drop(1); // Than `established`.
    if (!budget_ || std::ranges::all_of(lower, &task_queue::empty))
        return true;
    budget_->update(clock::now(), cpu_time(CLOCK_PROCESS_CPUTIME_ID));
    return budget_->has_credit();
}

bool worker::any_ready() const noexcept
{
    return !std::ranges::all_of(ready_, &task_queue::empty);
}

void worker::end_tasks() noexcept
{
    // A destroyed function's destructor may queue others.
    for (take_from_others(); any_ready(); take_from_others())
        for (task_queue& queue : ready_)
            run_some(queue, clock::duration::max());
}

// Asio keeps freed memory of operations and coroutines for the next ones only on a thread that runs
// an io_context. Elsewhere each of them would be an allocation. io_ cannot be that io_context,
// because its poll ends when it has no work.
void worker::run()
{
    boost::asio::io_context recycles{1};
    boost::asio::post(recycles, [this] { run_passes(); });
    recycles.run();
}

void worker::run_passes()
{
    thread_ = std::this_thread::get_id();
    static_cast<void>(scratch::of_this_thread()); // Made now, because later there may be no memory.
    while (!stopping_.load(std::memory_order_acquire)) {
        passes_.store(passes() + 1, std::memory_order_relaxed); // No locked instruction.
        bool const with_asio = asio_has_work();
        wait_for_events(with_asio);
        expire();
        take_from_others();
        run_some(queue_of(priority::established), clock::duration::max());
        if (has_cpu_time()) {
            run_some(queue_of(priority::bulk), limits::bulk_time);
            run_handshakes();
        }
        charge_cpu_time();
    }
    // A connection that is queued sees the interrupt only when it is resumed. end_tasks resumes it
    // now, because objects that it refers to may be destroyed before the worker.
    interrupt_all();
    end_tasks();
    thread_ = std::thread::id{};
}

void worker::run_handshakes() noexcept
{
    if (queue_of(priority::signature).empty())
        return run_some(queue_of(priority::handshake), handshake_time_);
    // Connections are read faster than they are served, so that none is lost in the kernel's queue.
    run_some(queue_of(priority::handshake), std::max(handshake_time_, limits::crowd_time));
    // One of two passes serves a signature, even where other work uses up all credit.
    skips_signatures_ = !has_cpu_time() && !skips_signatures_;
    if (!skips_signatures_)
        run_some(queue_of(priority::signature), handshake_time_);
}

void worker::stop() noexcept
{
    stopping_.store(true, std::memory_order_release);
    std::uint64_t const one = 1;
    // write fails only when the counter is full, and then the eventfd is readable already.
    static_cast<void>(!::write(wakeup_->fd(), &one, sizeof one));
}

void worker::push(task_node& node) noexcept
{
    if (executor{*this}.runs_here()) {
        push_here(node, priority::established);
        return;
    }
    from_others_.push(node);
    std::uint64_t const one = 1;
    static_cast<void>(!::write(wakeup_->fd(), &one, sizeof one));
}

void worker::take_from_others() noexcept
{
    for (task_node* next = from_others_.take(); next != nullptr;) {
        task_node& node = *std::exchange(next, next->next);
        push_here(node, priority::established);
    }
}

// Functions that are queued meanwhile wait for the next pass, which looks for events first.
void worker::run_some(task_queue& queue, clock::duration time) noexcept
{
    if (queue.empty())
        return;
    bool const bounded = time != clock::duration::max();
    time_up_ = bounded ? clock::now() + time : clock::time_point::max();
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
    if (watching_ && ++passes_with_asio_ % passes_between_checks == 0)
        watch_.cancel();
    io_.restart();
    run_handler([this] { io_.poll(); });
    return !io_.stopped();
}

void worker::wait_for_events(bool with_asio)
{
    clock::duration const timeout = time_to_wait();
    if (with_asio)
        wait_with_asio(timeout);
    readiness_.wait(with_asio ? clock::duration{} : timeout);
    clock::time_point const woken = clock::now();
    if (in_turn_) // Without a wait in between.
        end_turn(woken);
    now_ = woken; // Before dispatch, because deadlines that it arms count from now_.
    in_turn_ = true;
    renew_turns();
    // A listening socket that waits for credit, too, would end every wait.
    readiness_.dispatch(
        timeout != clock::duration{} && any_ready() ? readiness::unheard::unwatch
                                                    : readiness::unheard::keep);
    if (wakeup_->readable()) {
        std::uint64_t count = 0;
        wakeup_->use_up_read();
        static_cast<void>(!::read(wakeup_->fd(), &count, sizeof count));
        if (error_code const ec = wakeup_->wait_readable(on_wakeup_))
            throw std::system_error{ec, "epoll_ctl"};
    }
}

void worker::wait_with_asio(clock::duration timeout)
{
    if (!watching_)
        run_handler([this] {
            watch_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](error_code) {
                watching_ = false;
            });
            watching_ = true;
        });
    if (!watching_)
        return; // There was no memory. The next pass tries again.
    run_handler([&] {
        if (timeout == readiness::for_ever)
            io_.run_one();
        else
            io_.run_one_for(timeout);
    });
}

void worker::arm(deadline& d, std::chrono::milliseconds delay)
{
    auto found =
        std::find_if(deadlines_.begin(), deadlines_.end(), [delay](fifo_deadlines const& q) {
            return q.duration() == delay;
        });
    if (found == deadlines_.end()) {
        deadlines_.emplace_back(delay);
        found = std::prev(deadlines_.end());
    }
    found->arm(d, now_);
}

void worker::interrupt_all() noexcept
{
    interrupted_ = true;
    // A connection that is woken may end, and others with it, so the search starts at the first
    // again. It comes to an end: each time one more is raised, and a new interrupt is raised from
    // the start.
    for (interrupt* i = interrupts_; i != nullptr;)
        if (i->raised_ != error::stopped) {
            i->raise(error::stopped);
            i = interrupts_;
        } else {
            i = i->next_;
        }
}

worker::clock::duration worker::time_to_wait() noexcept
{
    bool const waits_for_credit =
        budget_ && !budget_->has_credit() && queue_of(priority::established).empty();
    if ((any_ready() && !waits_for_credit) || !from_others_.empty() ||
        stopping_.load(std::memory_order_relaxed))
        return {};
    clock::time_point next = clock::time_point::max();
    for (fifo_deadlines const& queue : deadlines_)
        next = std::min(next, queue.next().value_or(next));
    // A turn ends here. It has no clock of its own: a worker with connections has deadlines, and
    // one that is busy does not wait, and reads the clock again when it has looked for events.
    clock::time_point const now = clock::now();
    end_turn(now);
    clock::duration wait = readiness::for_ever;
    if (next != clock::time_point::max())
        wait =
            std::chrono::ceil<std::chrono::milliseconds>(std::max(next - now, clock::duration{}));
    if (!waits_for_credit || !any_ready())
        return wait;
    credit_waits_.store(credit_waits() + 1, std::memory_order_relaxed);
    return std::min<clock::duration>(wait, budget_->time_to_credit());
}

void worker::end_turn(clock::time_point now) noexcept
{
    if (!in_turn_)
        return; // The first pass.
    in_turn_ = false;
    std::int64_t const length = std::chrono::nanoseconds{now - now_}.count();
    if (length > longest_turn_.load(std::memory_order_relaxed))
        longest_turn_.store(length, std::memory_order_relaxed);
}

void worker::renew_turns() noexcept
{
    clock::duration const age = now_ - turns_since_;
    if (age < longest_turn_window)
        return;
    // After a wait of more than a window the turns before it are too old.
    std::int64_t const before =
        age < 2 * longest_turn_window ? longest_turn_.load(std::memory_order_relaxed) : 0;
    longest_turn_before_.store(before, std::memory_order_relaxed);
    longest_turn_.store(0, std::memory_order_relaxed);
    turns_since_ = now_;
}

void worker::expire() noexcept
{
    // The earliest first, also when the loop was late for several. Deadlines armed meanwhile are
    // later than now, so this ends.
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
