#include <cleat/core/busy_time_for_tests.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/worker.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>

namespace cleat::net::worker_test {
namespace asio = boost::asio;
namespace {

std::set<int> open_descriptors()
{
    std::set<int> found;
    for (auto const& each : std::filesystem::directory_iterator{"/proc/self/fd"})
        found.insert(std::stoi(each.path().filename()));
    // The iterator's own descriptor is closed by now.
    std::erase_if(found, [](int fd) { return ::fcntl(fd, F_GETFD) < 0; });
    return found;
}

using namespace std::chrono_literals;
using stream_socket = asio::local::stream_protocol::socket;

// A deadline that calls a function.
struct alarm : deadline
{
    explicit alarm(void (*f)(alarm&), void* value = nullptr)
        : deadline{[](deadline& d) noexcept {
            alarm& self = static_cast<alarm&>(d);
            ++self.rung;
            self.call(self);
        }}
        , call{f}
        , argument{value}
    {
    }

    void (*call)(alarm&);
    void* argument;
    int rung = 0;
};

TEST_CASE("a program that is executed inherits no descriptor of a worker")
{
    std::set<int> const before = open_descriptors();
    worker one;
    boost::asio::steady_timer const with_asio{one.get_executor()};
    std::size_t made = 0;
    for (int const fd : open_descriptors()) {
        if (before.contains(fd))
            continue;
        ++made;
        CHECK_MESSAGE((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, fd);
    }
    CHECK(made >= 3); // Its epoll set, Asio's copy of that, an eventfd, and what Asio makes.
}

TEST_CASE("functions run in the order in which they were posted")
{
    worker w;
    std::vector<int> order;
    for (int i = 0; i < 100; ++i)
        asio::post(w.get_executor(), [&order, i] { order.push_back(i); });
    asio::post(w.get_executor(), [&w] { w.stop(); });
    w.run();
    REQUIRE(order.size() == 100);
    for (int i = 0; i < 100; ++i)
        CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("dispatch runs a function at once on the worker's thread, post and defer later")
{
    worker w;
    std::vector<std::string> order;
    asio::post(w.get_executor(), [&] {
        CHECK(w.get_executor().runs_here());
        asio::post(w.get_executor(), [&] { order.push_back("posted"); });
        asio::defer(w.get_executor(), [&] {
            order.push_back("deferred");
            w.stop();
        });
        asio::dispatch(w.get_executor(), [&] { order.push_back("dispatched"); });
        order.push_back("first");
    });
    CHECK(!w.get_executor().runs_here());
    w.run();
    CHECK(order == std::vector<std::string>{"dispatched", "first", "posted", "deferred"});
}

TEST_CASE("other threads' functions run on the worker's, each thread's in its order")
{
    worker w;
    constexpr int each = 2000;
    std::vector<int> last(3, -1);
    int left = 3 * each;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < last.size(); ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < each; ++i)
                asio::post(w.get_executor(), [&, t, i] {
                    CHECK(w.get_executor().runs_here());
                    CHECK(last[t] == i - 1);
                    last[t] = i;
                    if (--left == 0)
                        w.stop();
                });
        });
    w.run();
    for (std::thread& t : threads)
        t.join();
    CHECK(left == 0);
}

TEST_CASE("stop from another thread ends a worker that waits for ever")
{
    worker w;
    std::thread other{[&w] { w.stop(); }};
    w.run();
    other.join();
}

TEST_CASE("stop from another thread ends a worker that waits with Asio")
{
    worker w;
    asio::steady_timer never{w.get_executor(), 1h};
    never.async_wait([](error_code) {});
    std::thread other;
    asio::post(w.get_executor(), [&] { other = std::thread{[&w] { w.stop(); }}; });
    w.run();
    other.join();
}

TEST_CASE("a stop before the run is a run that ends at once")
{
    worker w;
    w.stop();
    w.run();
    CHECK(w.passes() == 0);
}

TEST_CASE("deadlines expire in time, the shorter first, the cancelled never")
{
    worker w;
    std::vector<int> order;
    struct numbered
    {
        std::vector<int>* order;
        int number;
    };
    numbered n[] = {{&order, 0}, {&order, 1}, {&order, 2}};
    auto const note = [](alarm& a) {
        auto const& mine = *static_cast<numbered*>(a.argument);
        mine.order->push_back(mine.number);
    };
    alarm late{note, &n[2]};
    alarm soon{note, &n[0]};
    alarm middle{note, &n[1]};
    alarm never{note, &n[0]};
    alarm end{[](alarm& a) { static_cast<worker*>(a.argument)->stop(); }, &w};
    worker::clock::time_point const begin = w.now(); // Deadlines count from it.
    w.arm(late, 6ms);
    w.arm(soon, 1ms);
    w.arm(middle, 3ms);
    w.arm(never, 2ms);
    w.arm(end, 8ms);
    never.cancel();
    w.run();
    CHECK(worker::clock::now() - begin >= 8ms);
    CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("deadlines expire while Asio is in use")
{
    worker w;
    asio::steady_timer never{w.get_executor(), 1h};
    never.async_wait([](error_code) {});
    alarm end{[](alarm& a) { static_cast<worker*>(a.argument)->stop(); }, &w};
    w.arm(end, 2ms);
    w.run();
    CHECK(end.rung == 1);
}

// A descriptor of our own readiness that answers each byte with a byte.
struct echo : waiter
{
    echo(worker& w, int fd) : entry{new readiness::entry{w.readiness(), unique_fd{fd}}}
    {
        wake = [](waiter& me, error_code) noexcept { static_cast<echo&>(me).serve(); };
        REQUIRE(!entry->wait_readable(*this));
    }

    void serve()
    {
        entry->use_up_read();
        char c = 0;
        while (::read(entry->fd(), &c, 1) == 1) {
            ++echoed;
            REQUIRE(::write(entry->fd(), &c, 1) == 1);
        }
        REQUIRE(!entry->wait_readable(*this));
    }

    entry_ptr entry;
    int echoed = 0;
};

TEST_CASE("one loop serves Asio's sockets and timers and our own descriptors, and later only ours")
{
    worker w;
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    echo ours{w, fds[0]};
    alarm end{[](alarm& a) { static_cast<worker*>(a.argument)->stop(); }, &w};
    auto const scenario = [&]() -> asio::awaitable<void> {
        {
            // Asio's socket talks to our descriptor; each answer needs both loops.
            stream_socket theirs{w.get_executor(), asio::local::stream_protocol{}, fds[1]};
            for (int i = 0; i < 300; ++i) {
                char c = static_cast<char>(i);
                co_await asio::async_write(theirs, asio::buffer(&c, 1), asio::use_awaitable);
                char d = 0;
                co_await asio::async_read(theirs, asio::buffer(&d, 1), asio::use_awaitable);
                CHECK(c == d);
                if (i % 100 == 50) {
                    asio::steady_timer timer{w.get_executor(), 1ms};
                    co_await timer.async_wait(asio::use_awaitable);
                }
            }
        }
        // Asio has no work left; deadlines and functions go on for more passes than one check
        // lasts.
        for (int i = 0; i < 200; ++i)
            co_await asio::post(w.get_executor(), asio::use_awaitable);
        w.arm(end, 2ms);
    };
    asio::co_spawn(w.get_executor(), scenario, asio::detached);
    w.run();
    CHECK(ours.echoed == 300);
    CHECK(end.rung == 1);
}

TEST_CASE("the longest turn is what a function takes, and no wait for events is in it")
{
    worker w;
    alarm later{[](alarm& self) { static_cast<worker*>(self.argument)->stop(); }, &w};
    std::chrono::milliseconds wait{};
    asio::post(w.get_executor(), [&] {
        keep_busy(20ms);
        // A machine that stops the test meanwhile makes the function longer, and the wait with it.
        wait = 15 * std::chrono::ceil<std::chrono::milliseconds>(worker::clock::now() - w.now());
        w.arm(later, wait);
    });
    w.run();
    CHECK(w.longest_turn() >= 20ms);
    CHECK(w.longest_turn() < wait - wait / 10);
}

TEST_CASE("once Asio has no work left, the loop makes no passes while nothing happens")
{
    worker w;
    struct state
    {
        worker& w;
        std::uint64_t before = 0;
        std::uint64_t after = 0;
    } s{w};
    alarm begin{
        [](alarm& a) {
            auto& st = *static_cast<state*>(a.argument);
            st.before = st.w.passes();
        },
        &s};
    alarm end{
        [](alarm& a) {
            auto& st = *static_cast<state*>(a.argument);
            st.after = st.w.passes();
            st.w.stop();
        },
        &s};
    auto const scenario = [&]() -> asio::awaitable<void> {
        asio::steady_timer timer{w.get_executor(), 0ms};
        co_await timer.async_wait(asio::use_awaitable);
        for (int i = 0; i < 200; ++i) // More passes than one check lasts.
            co_await asio::post(w.get_executor(), asio::use_awaitable);
        w.arm(begin, 1ms);
        w.arm(end, 8ms);
    };
    asio::co_spawn(w.get_executor(), scenario, asio::detached);
    w.run();
    CHECK(s.after - s.before <= 4);
}

TEST_CASE("dispatch does not swallow an exception of its function")
{
    worker w;
    bool caught = false;
    asio::post(w.get_executor(), [&] {
        try {
            asio::dispatch(w.get_executor(), [] { throw std::runtime_error{"x"}; });
        } catch (std::runtime_error const&) {
            caught = true;
        }
        w.stop();
    });
    w.run();
    CHECK(caught);
}

TEST_CASE("functions that are queued at the end are destroyed and not called")
{
    auto const token = std::make_shared<int>(0);
    {
        worker w;
        asio::post(w.get_executor(), [&w, token] {
            w.stop();
            asio::post(w.get_executor(), [token] { ++*token; });
        });
        w.run();
        asio::post(w.get_executor(), [token] { ++*token; });
    }
    CHECK(*token == 0);
    CHECK(token.use_count() == 1);
}

// Its destructor posts a function, which must be neither lost nor leaked.
struct poster
{
    worker* owner;
    std::shared_ptr<int> token;
    ~poster()
    {
        if (token)
            asio::post(owner->get_executor(), [t = token] { ++*t; });
    }
    poster(worker& w, std::shared_ptr<int> t) : owner{&w}, token{std::move(t)} {}
    poster(poster&&) = default;
};

TEST_CASE("a queued function whose destructor posts another is destroyed with it")
{
    auto const token = std::make_shared<int>(0);
    {
        worker w;
        asio::post(w.get_executor(), [p = poster{w, token}] {});
        w.stop();
        w.run();
    }
    CHECK(*token == 0);
    CHECK(token.use_count() == 1);
}

TEST_CASE("a coroutine that waits for a timer is destroyed with its worker, and may post meanwhile")
{
    auto const token = std::make_shared<int>(0);
    {
        worker w;
        auto const scenario = [&]() -> asio::awaitable<void> {
            poster const posts_at_end{w, token};
            asio::steady_timer never{w.get_executor(), 1h};
            w.stop();
            co_await never.async_wait(asio::use_awaitable);
        };
        asio::co_spawn(w.get_executor(), scenario, asio::detached);
        w.run();
        CHECK(token.use_count() == 2);
    }
    CHECK(*token == 0);
    CHECK(token.use_count() == 1);
}

TEST_CASE(
    "a handler that throws std::bad_alloc is destroyed with what it owned, and the loop goes on")
{
    worker w;
    auto const owned = std::make_shared<int>(0);
    asio::post(w.get_executor(), [owned] { throw std::bad_alloc{}; });
    asio::steady_timer soon{w.get_executor(), 0s};
    soon.async_wait([owned](error_code) { throw std::bad_alloc{}; });
    asio::steady_timer later{w.get_executor(), 1ms};
    later.async_wait([&](error_code) { asio::post(w.get_executor(), [&w] { w.stop(); }); });
    w.run();
    CHECK(owned.use_count() == 1);
}

TEST_CASE("memory that an operation has freed is kept for the next one, and is not the heap's")
{
    worker w;
    asio::post(w.get_executor(), [&w] {
        asio::recycling_allocator<std::array<char, 200>> memory;
        auto* const first = memory.allocate(1);
        memory.deallocate(first, 1);
        // The heap would reuse the block for one of these.
        std::vector<std::unique_ptr<char[]>> others;
        for (std::size_t size = 190; size < 230; ++size)
            others.push_back(std::make_unique<char[]>(size));
        auto* const second = memory.allocate(1);
        CHECK(second == first);
        memory.deallocate(second, 1);
        w.stop();
    });
    w.run();
}

TEST_CASE(
    "interrupt_all reaches waiting connections, also those that end meanwhile, and later ones")
{
    struct connection : waiter
    {
        explicit connection(worker& w) : interrupt{w}
        {
            wake = [](waiter& me, error_code ec) noexcept {
                auto& self = static_cast<connection&>(me);
                self.error = ec;
                if (self.other != nullptr)
                    self.other->reset(); // It ends another connection too.
            };
            interrupt.guard(this);
        }
        net::interrupt interrupt;
        error_code error;
        std::unique_ptr<connection>* other = nullptr;
    };
    worker w;
    connection one{w};
    auto two = std::make_unique<connection>(w);
    auto three = std::make_unique<connection>(w);
    connection four{w};
    four.other = &three;
    CHECK(w.interruptible() == 4);
    w.interrupt_all();
    CHECK(one.error == error::stopped);
    CHECK(two->error == error::stopped);
    CHECK(three == nullptr);
    CHECK(four.error == error::stopped);
    interrupt const late{w};
    CHECK(late.raised() == error::stopped);
    CHECK(w.interruptible() == 4);
}

} // namespace
} // namespace cleat::net::worker_test
