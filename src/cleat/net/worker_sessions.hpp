// worker_sessions: a worker's sessions of TLS 1.2 that clients resume by ID, and its questions to
// other workers about theirs. Not a public header.

#pragma once

#include <cleat/core/fifo_deadlines.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/session_id_cache.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cleat::net {

class worker_sessions;

/// session_owners lists the worker_sessions of all workers, so that one worker can ask another. It
/// outlives them.
class session_owners
{
public:
    explicit session_owners(std::size_t workers) : owners_(workers) {}
    session_owners(session_owners&&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return owners_.size(); }

private:
    friend class worker_sessions;

    std::vector<std::atomic<worker_sessions*>> owners_; // By number. Null: not there.
};

/// worker_sessions is made on its worker's thread and belongs to it. It lives until all workers
/// have ended, because another one may be about to ask.
///
/// A question goes through the queue of the other worker. The answer, a copy of the session, comes
/// back through the queue of the worker that asked. Only the handshake that needs the session
/// waits, and no longer than limits::session_answer_time. A worker that does not answer by then is
/// stuck or has ended, and counts as a worker without the session.
class worker_sessions
{
public:
    worker_sessions(net::worker& worker, session_owners& owners);
    worker_sessions(worker_sessions&&) = delete;
    ~worker_sessions() = default;

    /// end: the worker answers no more questions.
    void end() noexcept;

    /// cache has the sessions of this worker's TLS contexts.
    [[nodiscard]] tls::session_id_cache& cache() noexcept { return cache_; }

    class answer;

private:
    struct question;

    net::worker& worker_;
    session_owners& owners_;
    tls::session_id_cache cache_;
    std::uint64_t asked_ = 0;           // How many questions.
    std::vector<answer*> first_, last_; // The handshakes that wait, by the worker they asked.
};

/// worker_sessions::answer waits for the session that cache().asked() names: a handshake awaits it.
/// Then the cache has the answer, and the handshake goes on, in its turn. The result is the reason
/// of the interrupt, where an interrupt has ended the wait.
class [[nodiscard]] worker_sessions::answer : waiter, task_node, deadline
{
public:
    answer(worker_sessions& sessions, net::interrupt& interrupt) noexcept;
    answer(answer&&) = delete;
    ~answer() = default;

    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> caller);
    [[nodiscard]] error_code await_resume() noexcept;

private:
    friend struct worker_sessions::question;

    void leave() noexcept;
    void settle(tls::encoded_session found) noexcept;
    static void on_wake(waiter& w, error_code ec) noexcept;
    static void on_late(deadline& d) noexcept;
    static void on_turn(task_node& n, bool run) noexcept;

    worker_sessions& sessions_;
    net::interrupt& interrupt_;
    tls::session_id id_;
    std::coroutine_handle<> caller_;
    std::uint64_t number_ = 0; // Of its question.
    tls::encoded_session found_;
    error_code error_;
    answer* previous_ = nullptr; // Those that asked the same worker before and after it.
    answer* next_ = nullptr;
};

} // namespace cleat::net
