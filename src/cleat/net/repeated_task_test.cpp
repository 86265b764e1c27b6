#include <cleat/net/repeated_task.hpp>
#include <cleat/net/worker.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace cleat::net::repeated_task_test {
namespace {

// The tasks of a test end with one whose turn is the last in a pass, and which stops the worker.
struct scene
{
    void run()
    {
        last.queue(priority::signature);
        w.run();
    }

    worker w;
    std::string calls;
    repeated_task last{w, [this] { w.stop(); }};
};

TEST_CASE("a task that is queued twice is called once, and again when it is queued again")
{
    scene s;
    repeated_task task{s.w, [&] { s.calls += 'a'; }};
    task.queue(priority::handshake);
    task.queue(priority::handshake);
    s.run();
    CHECK(s.calls == "a");
}

TEST_CASE("a task may queue itself, for the next pass")
{
    scene s;
    repeated_task other{s.w, [&] { s.calls += 'b'; }};
    std::unique_ptr<repeated_task> task;
    task = std::make_unique<repeated_task>(s.w, [&] {
        s.calls += 'a';
        if (s.calls.size() < 5)
            task->queue(priority::established);
        else
            s.last.queue(priority::established);
        if (s.calls.size() == 1)
            other.queue(priority::established);
    });
    task->queue(priority::established);
    s.w.run();
    CHECK(s.calls == "aabaa");
}

TEST_CASE("a task that is destroyed while it is queued is not called")
{
    scene s;
    {
        repeated_task gone{s.w, [&] { s.calls += 'x'; }};
        gone.queue(priority::established);
    }
    s.run();
    CHECK(s.calls.empty());
}

TEST_CASE("a task that a stopping worker has queued is not called, and may be queued after that")
{
    worker stopped;
    std::string calls;
    repeated_task task{stopped, [&] { calls += 'a'; }};
    task.queue(priority::bulk);
    stopped.stop();
    stopped.run();
    CHECK(calls.empty());
    task.queue(priority::bulk);
}

} // namespace
} // namespace cleat::net::repeated_task_test
