// A program whose locks are known, which the tests run under cleat-locks. It times its own calls
// with the clock of subject_clock.cpp, and prints the figures as JSON. More than 800 lines, for it
// has many modes; they are independent of each other.
//
//   subject holds THREADS TIMES HOLD_US   one mutex; each thread holds it so often, for so long on
//                                         average, while all others wait for it
//   subject operations THREADS TIMES CPU_US HOLD_US
//                                         operations: each computes for so long, holds one mutex
//                                         for so long, and another one a quarter of that
//   subject readers THREADS TIMES         a read-write lock, mostly read
//   subject handover TIMES                two threads and a condition
//   subject semaphore TIMES               two threads and a semaphore
//   subject beside TIMES HOLD_US          a mutex, and two semaphores before each time it is held
//   subject consumer TIMES HOLD_US        two threads in turns: one holds a mutex and signals its
//                                         condition, the other waits for that and holds the mutex
//   subject recursive THREADS TIMES HOLD_US
//                                         a recursive mutex; it is taken three times more meanwhile
//   subject crowd TIMES HOLD_US LONG_US   two threads on one core hold a mutex for so long; in
//                                         every eighth hold they lose their core, and it is long
//   subject spin MS                       a spin lock that is held for so long while another waits
//   subject heap TIMES                    mutexes that are made, used by one thread, and destroyed
//   subject cpu MS                        CPU time in two functions, some 7 to 3, one after the
//                                         other, with all signals blocked
//   subject asks MS                       reads the clock in a loop, which is the kernel's code
//   subject many THREADS                  threads that come and go
//   subject late MS                       threads that lock after their end
//   subject fork | exec | abort | killed | leave
//                                         ends of a process
//   subject dozes MS                      two threads hold a mutex; then the process sleeps
//                                         for so long, and until standard input ends
//   subject chain TIMES MS                computes, and executes itself, so often
//   subject children COUNT                forks with a mutex held, more children than cores
//   subject sequences TIMES               has a restartable sequence of its own while it locks
//   subject timeouts TIMES                computes until a signal handler jumps out of the loop,
//                                         then locks, so often
//   subject handlers TIMES JUMP APART     so many signal handlers while it locks: they lock too, or
//                                         jump out; on a stack of their own, or not
//   subject descriptors                   closes all that it may, and opens files of its own
//   subject cancel                        a thread that is cancelled, and one that exits
//   subject mainless                      main leaves its process to a thread that locks
//   subject lent TIMES HOLD_US            main takes a mutex once, and then another thread only
//   subject relay THREADS HOLD_US         threads that take a mutex once each, one after the other
//   subject answers                       results of lock functions that cannot lock
//   subject errors                        whether a lock function changed errno
//   subject unasked MS                    a thread that is cancelled, and whose only cancellation
//                                         point comes after so much CPU time, with no lock held
//   subject callers TIMES                 two functions lock in turns, at one place
//   subject uneven THREADS FIRST_US       threads that hold a lock for so long at first, and then
//                                         briefly
//   subject named                         threads that have names, and wait
//   subject late-words THREADS            threads that lock in their very last destructors
//   subject closes FILE                   closes all descriptors, and opens this
//   subject clears                        clears its environment, and forks
//   subject c11 TIMES                     two threads, with the mutexes and conditions of C11
//   subject churns COUNT                  mutexes that are made, used and destroyed, each at an
//                                         address of its own
//   subject unloads LIBRARY MS            a library that locks for so much CPU time, and is
//                                         unloaded
//   subject ways MS                       each lock is held for so long while another thread tries
//                                         it, waits until a deadline in the past, and waits until
//                                         it has the lock
//   subject old-condition TIMES           two threads and a condition of glibc 2.2.5's
//   subject opens LIBRARY TIMES           a library that is opened while it runs, and locks
//   subject deadlock MS                   two threads that wait for each other's mutex; it ends
//                                         after so long
//   subject unreadable                    asks for a mutex whose owner waits for a lock, half of
//                                         which cannot be read meanwhile
//   subject rare TIMES EVERY BRIEF_US LONG_US
//                                         a thread holds a mutex so often, briefly; each so many
//                                         times for long, and another thread waits for that
//   subject tries MS                      a thread tries a mutex until another one releases it
//   subject gives-up MS                   a thread tries a mutex once, and takes another one
//   subject wrapped TIMES                 locks of the C++ library
//   subject crowded TIMES HOLD_US         a thread tries a mutex while another one holds it so
//                                         often, in two functions
//   subject inverted WAITS                two threads, one after the other, take two mutexes in
//                                         both orders; the second one waits for its second mutex,
//                                         or only tries it
//   subject phases                        for each line of standard input, takes a mutex so often,
//                                         and answers with a line; 0 begins a window, -1 ends it
//   subject own-futex MS                  a thread waits for a lock of the program's own
//   subject unseen MS                     a thread waits for so long at a barrier, another one in
//                                         read()
//   subject signals                       sets all signals back to their defaults, and computes

#include "subject.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace subject;

namespace {

struct truth
{
    std::atomic<std::uint64_t> acquisitions = 0;
    std::atomic<std::uint64_t> wait_ns = 0;
    std::atomic<std::uint64_t> hold_ns = 0;
    std::atomic<std::uint64_t> threads_ns =
        0; // How long they lived, added up, without the main one.
    std::uint64_t began_ns = now_ns();

    void say() const
    {
        std::printf(
            "{\"acquisitions\": %llu, \"wait_ns\": %llu, \"hold_ns\": %llu, "
            "\"threads_ns\": %llu, \"lived_ns\": %llu}\n",
            static_cast<unsigned long long>(acquisitions.load()),
            static_cast<unsigned long long>(wait_ns.load()),
            static_cast<unsigned long long>(hold_ns.load()),
            static_cast<unsigned long long>(threads_ns.load()),
            static_cast<unsigned long long>(now_ns() - began_ns));
    }
};

void in_threads(unsigned count, std::function<void(unsigned)> const& work)
{
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i)
        threads.emplace_back(work, i);
    for (std::thread& each : threads)
        each.join();
}

pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t brief_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;

// contender is a thread that holds held_mutex so many times more; the holder alone reads and writes
// that.
struct contender
{
    std::atomic<pid_t> thread = 0;
    unsigned holds_left = 0;
};

// No time passes before all `others` that will hold the mutex again wait for it.
[[gnu::noinline]] void hold_it(
    truth& measured, std::uint64_t hold_ns, std::span<contender> others = {})
{
    std::uint64_t const asked = now_ns();
    pthread_mutex_lock(&held_mutex);
    std::uint64_t const taken = now_ns();
    for (contender& each : others) {
        each.thread.wait(0);
        if (each.thread == own_id())
            --each.holds_left;
        else if (each.holds_left > 0)
            until_blocked(each.thread, held_mutex);
    }
    pass(hold_ns);
    std::uint64_t const done = now_ns();
    pthread_mutex_unlock(&held_mutex);
    ++measured.acquisitions;
    measured.wait_ns += taken - asked;
    measured.hold_ns += done - taken;
}

void holds(unsigned threads, unsigned times, std::uint64_t hold_us)
{
    truth measured;
    std::vector<contender> all(threads);
    for (contender& each : all)
        each.holds_left = times;
    std::atomic<unsigned> at_work = threads;
    in_threads(threads, [&](unsigned me) {
        std::uint64_t const began = now_ns();
        all[me].thread = own_id();
        all[me].thread.notify_all();
        for (unsigned i = 0; i < times; ++i)
            hold_it(measured, hold_us * 500 * (1 + i % 3), all);
        // No thread ends before the last step of the clock.
        --at_work;
        at_work.notify_all();
        for (unsigned now = at_work; now > 0; now = at_work)
            at_work.wait(now);
        measured.threads_ns += now_ns() - began;
    });
    measured.say();
}

void readers(unsigned threads, unsigned times)
{
    truth measured;
    in_threads(threads, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i) {
            if (i % 10 == 0)
                pthread_rwlock_wrlock(&read_lock);
            else
                pthread_rwlock_rdlock(&read_lock);
            ++measured.acquisitions;
            pthread_rwlock_unlock(&read_lock);
        }
    });
    measured.say();
}

void handover(unsigned times)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    unsigned turn = 0;
    std::atomic<bool> other_waits = false; // Or is about to, and has the mutex until it does.
    truth measured;
    in_threads(2, [&](unsigned me) {
        if (me == 0)
            other_waits.wait(false);
        pthread_mutex_lock(&mutex);
        other_waits = true;
        other_waits.notify_one();
        while (turn < times) {
            if (turn % 2 == me) {
                pass(1'000'000);
                ++turn;
                pthread_cond_signal(&condition);
                continue;
            }
            std::uint64_t const asked = now_ns();
            pthread_cond_wait(&condition, &mutex);
            measured.wait_ns += now_ns() - asked;
            ++measured.acquisitions;
        }
        pthread_cond_signal(&condition);
        pthread_mutex_unlock(&mutex);
    });
    measured.say();
}

void semaphore(unsigned times)
{
    sem_t full;
    sem_init(&full, 0, 0);
    truth measured;
    std::atomic<pid_t> waiter = 0;
    auto const post = [&](unsigned after) {
        for (std::uint64_t now = measured.acquisitions; now < after; now = measured.acquisitions)
            measured.acquisitions.wait(now);
        waiter.wait(0);
        until_blocked(waiter, full);
        pass(1'000'000);
        sem_post(&full);
    };
    auto const wait = [&] {
        std::uint64_t const asked = now_ns();
        sem_wait(&full);
        measured.wait_ns += now_ns() - asked;
        ++measured.acquisitions;
        measured.acquisitions.notify_one();
    };
    in_threads(2, [&](unsigned me) {
        if (me == 1) {
            waiter = own_id();
            waiter.notify_one();
        }
        for (unsigned i = 0; i < times; ++i)
            if (me == 0)
                post(i);
            else
                wait();
    });
    sem_destroy(&full);
    measured.say();
}

double seconds(timespec const& time)
{
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void spin(std::uint64_t ms)
{
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    std::atomic<bool> held = false;
    std::atomic<bool> asks = false;
    clockid_t spinners_cpu{};
    truth measured;
    // A thread that spins is not blocked: it uses CPU time, and much more than the recorder does
    // before that.
    auto const until_spinning = [&] {
        asks.wait(false);
        timespec began{};
        ::clock_gettime(spinners_cpu, &began);
        for (timespec now = began; seconds(now) < seconds(began) + 0.1; ::sched_yield())
            ::clock_gettime(spinners_cpu, &now);
    };
    in_threads(2, [&](unsigned me) {
        if (me == 0) {
            pthread_spin_lock(&lock);
            held = true;
            held.notify_one();
            until_spinning();
            pass(ms * 1'000'000);
            pthread_spin_unlock(&lock);
        } else {
            held.wait(false);
            ::pthread_getcpuclockid(::pthread_self(), &spinners_cpu);
            asks = true;
            asks.notify_one();
            std::uint64_t const asked = now_ns();
            pthread_spin_lock(&lock);
            measured.wait_ns += now_ns() - asked;
            pthread_spin_unlock(&lock);
        }
        ++measured.acquisitions;
    });
    pthread_spin_destroy(&lock);
    measured.say();
}

void beside(unsigned times, std::uint64_t hold_us)
{
    std::array<sem_t, 2> full;
    for (sem_t& each : full)
        sem_init(&each, 0, times);
    truth measured;
    in_threads(1, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i) {
            for (sem_t& each : full)
                sem_wait(&each);
            hold_it(measured, hold_us * 1000);
        }
    });
    measured.say();
}

// wait_one_way waits in one of the three ways.
void wait_one_way(unsigned way, pthread_cond_t& condition)
{
    timespec until{};
    ::clock_gettime(way == 1 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &until);
    until.tv_sec += 60;
    if (way == 0)
        pthread_cond_wait(&condition, &held_mutex);
    else if (way == 1)
        pthread_cond_timedwait(&condition, &held_mutex, &until);
    else
        pthread_cond_clockwait(&condition, &held_mutex, CLOCK_MONOTONIC, &until);
}

// The consumer announces each wait with the mutex held, so the producer gets the mutex only while
// the consumer waits. Acquisitions are the waits here; at least one for each time.
void consumer(unsigned times, std::uint64_t hold_us)
{
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    std::atomic<unsigned> announced = 0;
    bool full = false;
    truth measured;
    auto const produce = [&](unsigned time) {
        for (unsigned seen = announced; seen <= time; seen = announced)
            announced.wait(seen);
        pthread_mutex_lock(&held_mutex);
        std::uint64_t const taken = now_ns();
        pass(hold_us * 1000);
        full = true;
        pthread_cond_signal(&condition);
        measured.hold_ns += now_ns() - taken;
        pthread_mutex_unlock(&held_mutex);
    };
    auto const consume = [&] {
        pthread_mutex_lock(&held_mutex);
        std::uint64_t taken = now_ns();
        for (unsigned time = 0; time < times; ++time) {
            ++announced;
            announced.notify_one();
            while (!full) {
                measured.hold_ns += now_ns() - taken;
                wait_one_way(static_cast<unsigned>(measured.acquisitions++ % 3), condition);
                taken = now_ns();
            }
            full = false;
            pass(hold_us * 1000);
        }
        measured.hold_ns += now_ns() - taken;
        pthread_mutex_unlock(&held_mutex);
    };
    in_threads(2, [&](unsigned me) {
        for (unsigned time = 0; me == 0 && time < times; ++time)
            produce(time);
        if (me == 1)
            consume();
    });
    measured.say();
}

void recursive(unsigned threads, unsigned times, std::uint64_t hold_us)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&held_mutex, &attributes);
    truth measured;
    in_threads(threads, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i) {
            pthread_mutex_lock(&held_mutex);
            std::uint64_t const taken = now_ns();
            touch_mutex(1);
            pthread_mutex_lock(&held_mutex);
            pthread_mutex_lock(&held_mutex);
            pass(hold_us * 1000);
            pthread_mutex_unlock(&held_mutex);
            pthread_mutex_unlock(&held_mutex);
            measured.hold_ns += now_ns() - taken;
            pthread_mutex_unlock(&held_mutex);
            measured.acquisitions += 4;
        }
    });
    measured.say();
}

[[gnu::noinline]] pthread_mutex_t* make_one()
{
    auto* const made = new pthread_mutex_t;
    pthread_mutex_init(made, nullptr);
    return made;
}

void heap(unsigned times)
{
    truth measured;
    in_threads(2, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i) {
            pthread_mutex_t* const one = make_one();
            pthread_mutex_lock(one);
            pthread_mutex_unlock(one);
            pthread_mutex_destroy(one);
            delete one;
            ++measured.acquisitions;
        }
    });
    measured.say();
}

std::atomic<std::uint64_t> sink = 0;

[[gnu::always_inline]] inline void burn_some(std::uint64_t step)
{
    for (int i = 0; i < 20'000; ++i)
        sink.store(sink.load(std::memory_order_relaxed) + step, std::memory_order_relaxed);
}

// tick is a timer of this thread's CPU time that is due at once. All timers of CPU time that are
// due expire together, at a tick of the kernel's, and a virtual machine may get its ticks late. So
// when this one has expired, a sampler has taken the samples of all CPU time before.
class tick
{
public:
    tick()
    {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGUSR2);
        ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID; // Other threads do not block the signal.
        event._sigev_un._tid = ::gettid();
        event.sigev_signo = SIGUSR2;
        ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_);
        itimerspec due{};
        due.it_value.tv_nsec = 1;
        ::timer_settime(timer_, 0, &due, nullptr);
    }
    tick(tick&&) = delete;
    ~tick()
    {
        ::timer_delete(timer_);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    // Takes the signal, which comes once.
    [[nodiscard]] bool has_come() const
    {
        timespec const at_once{};
        return ::sigtimedwait(&signal_, nullptr, &at_once) == SIGUSR2;
    }

private:
    sigset_t signal_{};
    sigset_t before_{};
    timer_t timer_{};
};

// These two use CPU time for so long, and until a tick, in a function that a profile can name. The
// compiler would make one function of two that are the same.
[[gnu::noinline]] void burn_seventy(std::uint64_t ns)
{
    for (std::uint64_t const until = cpu_ns() + ns; cpu_ns() < until;)
        burn_some(1);
    for (tick const last; !last.has_come();)
        burn_some(1);
}

[[gnu::noinline]] void burn_thirty(std::uint64_t ns)
{
    for (std::uint64_t const until = cpu_ns() + ns; cpu_ns() < until;)
        burn_some(3);
    for (tick const last; !last.has_come();)
        burn_some(3);
}

void operations(unsigned threads, unsigned times, std::uint64_t compute_us, std::uint64_t hold_us)
{
    truth measured;
    in_threads(threads, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i) {
            burn_thirty(compute_us * 1000);
            hold_it(measured, hold_us * 1000);
            pthread_mutex_lock(&brief_mutex);
            pass(hold_us * 250);
            pthread_mutex_unlock(&brief_mutex);
        }
    });
    measured.say();
}

// interruptions counts how often the kernel took the core away from this thread.
std::uint64_t interruptions()
{
    rusage mine{};
    getrusage(RUSAGE_THREAD, &mine);
    return static_cast<std::uint64_t>(mine.ru_nivcsw);
}

// stay_here leaves one core to this thread, and to those that it starts.
void stay_here()
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

// A third thread always wants the core. A thread that yields it while it can run loses it, as the
// kernel counts.
void crowd(unsigned times, std::uint64_t hold_us, std::uint64_t long_us)
{
    stay_here();
    truth measured;
    std::atomic<std::uint64_t> lost_in_holds = 0;
    std::atomic<std::uint64_t> lost = 0;
    std::atomic<bool> ended = false;
    std::thread competitor{[&] {
        while (!ended)
            ::sched_yield();
    }};
    in_threads(2, [&](unsigned) {
        std::uint64_t const first = interruptions();
        for (unsigned i = 0; i < times; ++i) {
            pthread_mutex_lock(&held_mutex);
            std::uint64_t const before = interruptions();
            std::uint64_t const taken = now_ns();
            bool const loses_core = i % 8 == 7;
            while (loses_core && interruptions() == before)
                ::sched_yield();
            pass((loses_core ? long_us : hold_us) * 1000);
            measured.hold_ns += now_ns() - taken;
            pthread_mutex_unlock(&held_mutex);
            lost_in_holds += loses_core;
        }
        lost += interruptions() - first;
    });
    ended = true;
    competitor.join();
    std::printf(
        "{\"hold_ns\": %llu, \"lost_in_holds\": %llu, \"lost\": %llu}\n",
        static_cast<unsigned long long>(measured.hold_ns.load()),
        static_cast<unsigned long long>(lost_in_holds.load()),
        static_cast<unsigned long long>(lost.load()));
}

void cpu(std::uint64_t ms)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    in_threads(1, [&](unsigned) {
        // A virtual machine may count stolen time as the thread's, so the parts are measured.
        std::uint64_t const began = cpu_ns();
        burn_seventy(ms * 700'000);
        std::uint64_t const then = cpu_ns();
        burn_thirty(ms * 300'000);
        std::printf(
            "{\"seventy_ns\": %llu, \"thirty_ns\": %llu}\n",
            static_cast<unsigned long long>(then - began),
            static_cast<unsigned long long>(cpu_ns() - then));
    });
}

void asks(std::uint64_t ms)
{
    in_threads(1, [&](unsigned) {
        for (std::uint64_t const until = cpu_ns() + ms * 1'000'000; cpu_ns() < until;)
            for (int i = 0; i < 10'000; ++i) {
                timespec now{};
                clock_gettime(CLOCK_MONOTONIC, &now);
            }
    });
}

void many(unsigned count)
{
    for (unsigned i = 0; i < count; i += 10)
        in_threads(10, [&](unsigned) {
            pthread_mutex_lock(&held_mutex);
            pthread_mutex_unlock(&held_mutex);
        });
}

// Threads that work, and lock once more in the destructor of each of their keys.
void late(std::uint64_t ms)
{
    static std::array<pthread_key_t, 3> keys;
    for (pthread_key_t& key : keys)
        pthread_key_create(&key, [](void*) { touch_mutex(1); });
    in_threads(2, [&](unsigned) {
        touch_mutex(1);
        for (pthread_key_t const key : keys)
            pthread_setspecific(key, &held_mutex);
        burn_thirty(ms * 1'000'000);
    });
}

void fork_and_wait()
{
    touch_mutex(10);
    pid_t const child = ::fork();
    if (child == 0) {
        touch_mutex(20);
        std::exit(0);
    }
    ::waitpid(child, nullptr, 0);
    touch_mutex(10);
}

void dozes(std::uint64_t ms)
{
    truth measured;
    in_threads(2, [&](unsigned) { hold_it(measured, 20'000'000); });
    pass(ms * 1'000'000);
    measured.say();
    std::fflush(stdout);
    while (std::getchar() != EOF)
        ;
}

void exec_itself(char const* program)
{
    touch_mutex(10);
    ::execl(program, program, "readers", "1", "100", nullptr);
    std::perror(program);
    std::exit(1);
}

void chain(char const* program, unsigned times, char const* ms, std::uint64_t burn_ms)
{
    touch_mutex(10);
    burn_thirty(burn_ms * 1'000'000);
    if (times > 1) {
        ::execl(
            program, program, "chain", std::to_string(times - 1).c_str(), ms,
            static_cast<char*>(nullptr));
        std::perror(program);
        std::exit(1);
    }
    // The thread's CPU clock continues over an exec, so this is the sum.
    std::printf("{\"cpu_ns\": %llu}\n", static_cast<unsigned long long>(cpu_ns()));
}

void children(unsigned count)
{
    pthread_mutex_lock(&held_mutex);
    std::vector<pid_t> processes;
    for (unsigned i = 0; i < count; ++i) {
        processes.push_back(::fork());
        if (processes.back() == 0) {
            burn_thirty(50'000'000);
            pthread_mutex_unlock(&held_mutex);
            in_threads(2, [](unsigned) { touch_mutex(1000); });
            std::exit(0);
        }
    }
    pthread_mutex_unlock(&held_mutex);
    unsigned well = 0;
    for (pid_t const each : processes) {
        int status = -1;
        ::waitpid(each, &status, 0);
        well += status == 0;
    }
    std::printf("{\"well\": %u}\n", well);
}

// All descriptors become one file of its own, into which nothing else may be written.
void descriptors(unsigned count)
{
    for (int i = 3; i < 1024; ++i)
        ::close(i);
    std::FILE* const own = std::tmpfile();
    for (int i = fileno(own) + 1; i < 1024; ++i)
        ::dup2(fileno(own), i);
    in_threads(count, [](unsigned) { touch_mutex(10); });
    std::fseek(own, 0, SEEK_END);
    std::printf("{\"size\": %ld}\n", std::ftell(own));
}

[[gnu::noinline]] void lock_without_main(int times)
{
    for (int i = 0; i < times; ++i)
        touch_mutex(1);
}

// After main has ended, /proc has the memory map of the other threads only.
void mainless()
{
    pthread_t const main_thread = ::pthread_self();
    std::thread{[main_thread] {
        ::pthread_join(main_thread, nullptr);
        lock_without_main(100);
        std::printf("{\"acquisitions\": 100}\n");
        std::exit(0);
    }}.detach();
    ::pthread_exit(nullptr);
}

void lent(unsigned times, std::uint64_t hold_us)
{
    truth measured;
    hold_it(measured, hold_us * 1000);
    in_threads(1, [&](unsigned) {
        for (unsigned i = 0; i < times; ++i)
            hold_it(measured, hold_us * 1000);
    });
    measured.say();
}

void relay(unsigned threads, std::uint64_t hold_us)
{
    truth measured;
    for (unsigned i = 0; i < threads; ++i)
        in_threads(1, [&](unsigned) { hold_it(measured, hold_us * 1000); });
    measured.say();
}

void* wait_forever(void* semaphore)
{
    for (;;)
        ::sem_wait(static_cast<sem_t*>(semaphore));
}

void* leave(void* unused)
{
    touch_mutex(10);
    ::pthread_exit(unused);
}

void cancel()
{
    sem_t full;
    ::sem_init(
        &full, 0, SEM_VALUE_MAX); // It never waits, and is a cancellation point all the same.
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, wait_forever, &full);
    ::pthread_cancel(thread);
    void* thread_result = nullptr;
    ::pthread_join(thread, &thread_result);
    pthread_t other{};
    ::pthread_create(&other, nullptr, leave, &full);
    void* other_result = nullptr;
    ::pthread_join(other, &other_result);
    std::printf(
        "{\"cancelled\": %d, \"left\": %d}\n", thread_result == PTHREAD_CANCELED,
        other_result == &full);
}

void answers()
{
    std::once_flag once;
    unsigned tries = 0;
    for (int i = 0; i < 3; ++i)
        try {
            std::call_once(once, [&] {
                if (++tries < 2)
                    throw std::runtime_error{"not yet"};
            });
        } catch (std::runtime_error const&) {
        }
    timespec const past{};
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    int const unknown = ::pthread_mutex_clocklock(&plain, 4711, &past);
    int const taken = ::pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past);
    int const late = ::pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past);
    std::printf("{\"once\": %u, \"clock\": [%d, %d, %d]", tries, unknown, taken, late);
    for (auto const& [name, type] :
         {std::pair{"checking", PTHREAD_MUTEX_ERRORCHECK},
          {"recursive", PTHREAD_MUTEX_RECURSIVE}}) {
        pthread_mutexattr_t attributes;
        ::pthread_mutexattr_init(&attributes);
        ::pthread_mutexattr_settype(&attributes, type);
        pthread_mutex_t own;
        ::pthread_mutex_init(&own, &attributes);
        int const first = ::pthread_mutex_lock(&own);
        int const again = ::pthread_mutex_lock(&own);
        std::printf(", \"%s\": [%d, %d, %d]", name, first, again, ::pthread_mutex_unlock(&own));
    }
    std::printf("}\n");
}

void errors()
{
    sem_t none;
    ::sem_init(&none, 0, 1);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    int changed = 0;
    in_threads(4, [&](unsigned) {
        for (int i = 0; i < 5000; ++i) {
            errno = 4711;
            ::pthread_mutex_lock(&own);
            ::pthread_mutex_unlock(&own);
            ::pthread_rwlock_rdlock(&read_lock);
            ::pthread_rwlock_unlock(&read_lock);
            ::sem_wait(&none);
            ::sem_post(&none);
            changed += errno != 4711;
        }
    });
    ::sem_wait(&none);
    bool const said = ::sem_trywait(&none) == -1 && errno == EAGAIN;
    std::printf("{\"changed\": %d, \"said\": %d}\n", changed, said);
}

void signals(std::uint64_t ms)
{
    for (int i = 1; i <= SIGRTMAX; ++i)
        ::signal(i, SIG_DFL);
    burn_seventy(ms * 1'000'000);
}

// arguments are the command line: the program, the mode, and what the mode takes.
class arguments
{
public:
    arguments(int count, char** words) : words_{words, static_cast<std::size_t>(count)} {}

    [[nodiscard]] char const* text(std::size_t position) const
    {
        if (position >= words_.size()) {
            std::fprintf(stderr, "subject: an argument is missing\n");
            std::exit(2);
        }
        return words_[position];
    }
    [[nodiscard]] unsigned number(std::size_t position) const
    {
        return static_cast<unsigned>(std::strtoul(text(position), nullptr, 10));
    }

private:
    std::span<char*> words_;
};

void end_by(int signal)
{
    touch_mutex(5000);
    ::raise(signal);
}

struct mode
{
    std::string_view name;
    void (*run)(arguments const& words);
};

constexpr mode modes[]{
    {"holds",
     [](arguments const& words) { holds(words.number(2), words.number(3), words.number(4)); }},
    {"operations",
     [](arguments const& words) {
         operations(words.number(2), words.number(3), words.number(4), words.number(5));
     }},
    {"readers", [](arguments const& words) { readers(words.number(2), words.number(3)); }},
    {"handover", [](arguments const& words) { handover(words.number(2)); }},
    {"semaphore", [](arguments const& words) { semaphore(words.number(2)); }},
    {"beside", [](arguments const& words) { beside(words.number(2), words.number(3)); }},
    {"consumer", [](arguments const& words) { consumer(words.number(2), words.number(3)); }},
    {"recursive",
     [](arguments const& words) { recursive(words.number(2), words.number(3), words.number(4)); }},
    {"crowd",
     [](arguments const& words) { crowd(words.number(2), words.number(3), words.number(4)); }},
    {"chain",
     [](arguments const& words) {
         chain(words.text(0), words.number(2), words.text(3), words.number(3));
     }},
    {"children", [](arguments const& words) { children(words.number(2)); }},
    {"sequences", [](arguments const& words) { sequences(words.number(2)); }},
    {"timeouts", [](arguments const& words) { timeouts(words.number(2)); }},
    {"handlers",
     [](arguments const& words) {
         handlers(words.number(2), words.number(3) != 0, words.number(4) != 0);
     }},
    {"spin", [](arguments const& words) { spin(words.number(2)); }},
    {"heap", [](arguments const& words) { heap(words.number(2)); }},
    {"cpu", [](arguments const& words) { cpu(words.number(2)); }},
    {"asks", [](arguments const& words) { asks(words.number(2)); }},
    {"many", [](arguments const& words) { many(words.number(2)); }},
    {"late", [](arguments const& words) { late(words.number(2)); }},
    {"fork", [](arguments const&) { fork_and_wait(); }},
    {"dozes", [](arguments const& words) { dozes(words.number(2)); }},
    {"exec", [](arguments const& words) { exec_itself(words.text(0)); }},
    {"descriptors", [](arguments const& words) { descriptors(words.number(2)); }},
    {"cancel", [](arguments const&) { cancel(); }},
    {"mainless", [](arguments const&) { mainless(); }},
    {"lent", [](arguments const& words) { lent(words.number(2), words.number(3)); }},
    {"relay", [](arguments const& words) { relay(words.number(2), words.number(3)); }},
    {"answers", [](arguments const&) { answers(); }},
    {"errors", [](arguments const&) { errors(); }},
    {"unasked", [](arguments const& words) { unasked(words.number(2)); }},
    {"callers", [](arguments const& words) { callers(words.number(2)); }},
    {"uneven", [](arguments const& words) { uneven(words.number(2), words.number(3)); }},
    {"named", [](arguments const&) { named(); }},
    {"late-words", [](arguments const& words) { late_words(words.number(2)); }},
    {"closes", [](arguments const& words) { closes(words.text(2)); }},
    {"clears", [](arguments const&) { clears(); }},
    {"c11", [](arguments const& words) { c11(words.number(2)); }},
    {"churns", [](arguments const& words) { churns(words.number(2)); }},
    {"unloads", [](arguments const& words) { unloads(words.text(2), words.number(3)); }},
    {"ways", [](arguments const& words) { ways(words.number(2)); }},
    {"old-condition", [](arguments const& words) { old_condition(words.number(2)); }},
    {"opens", [](arguments const& words) { opens(words.text(2), words.number(3)); }},
    {"deadlock", [](arguments const& words) { deadlock(words.number(2)); }},
    {"unreadable", [](arguments const&) { unreadable(); }},
    {"rare",
     [](arguments const& words) {
         rare(words.number(2), words.number(3), words.number(4), words.number(5));
     }},
    {"tries", [](arguments const& words) { tries(words.number(2)); }},
    {"gives-up", [](arguments const& words) { gives_up(words.number(2)); }},
    {"crowded", [](arguments const& words) { crowded(words.number(2), words.number(3)); }},
    {"inverted", [](arguments const& words) { inverted(words.number(2) != 0); }},
    {"phases", [](arguments const&) { phases(); }},
    {"own-futex", [](arguments const& words) { futex_of_its_own(words.number(2)); }},
    {"unseen", [](arguments const& words) { unseen(words.number(2)); }},
    {"wrapped", [](arguments const& words) { wrapped(words.number(2)); }},
    {"signals", [](arguments const& words) { signals(words.number(2)); }},
    {"leave",
     [](arguments const&) {
         touch_mutex(10);
         ::_exit(7);
     }},
    {"abort", [](arguments const&) { end_by(SIGABRT); }},
    {"killed", [](arguments const&) { end_by(SIGKILL); }},
};

} // namespace

void subject::touch_mutex(unsigned times)
{
    for (unsigned i = 0; i < times; ++i) {
        pthread_mutex_lock(&held_mutex);
        pthread_mutex_unlock(&held_mutex);
    }
}

int main(int argc, char** argv)
{
    std::string_view const name = argc > 1 ? argv[1] : "";
    auto const* const found = std::ranges::find(modes, name, &mode::name);
    if (found == std::end(modes)) {
        std::fprintf(stderr, "subject: unknown mode: see the top of subject.cpp\n");
        return 2;
    }
    found->run({argc, argv});
    return 0;
}
