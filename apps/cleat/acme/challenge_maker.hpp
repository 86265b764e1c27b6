// challenge_maker: reads the certificates that answer ACME challenges, off the workers.

#pragma once

#include <cleat/core/file_opener.hpp>
#include <cleat/core/inbox.hpp>
#include <cleat/net/executor.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/readiness.hpp>
#include <cleat/net/worker.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/context_spec.hpp>

#include <atomic>
#include <coroutine>
#include <functional>
#include <memory>
#include <string>

namespace cleat::app {

/// challenge is what a connection asks for: the certificate that answers for a name.
struct challenge
{
    std::string folder;
    std::string server_name; ///< See is_challenge.
    tls::protocol_version version_min{};
    tls::protocol_version version_max{};
};

/// made_challenge is the TLS context that answers a challenge, or else why there is none.
struct made_challenge
{
    std::unique_ptr<tls::context> context{};
    std::string refusal{};
};

/// make_challenge reads the files as they are now. The opener opens those that this process may
/// not. Throws std::bad_alloc.
[[nodiscard]] made_challenge make_challenge(challenge const& wanted, file_opener const& opener);

class challenge_arrival;

/// challenge_request is a challenge on its way to the maker's thread and back to its worker, which
/// owns it from then on.
struct challenge_request : net::task_node
{
    challenge_request(net::worker& origin, challenge question);
    challenge_request(challenge_request&&) = delete;

    net::worker& worker;
    challenge wanted;
    made_challenge made{};
    challenge_arrival* asker = nullptr; ///< The worker's thread only. Null: the connection ended.
    challenge_request* next_asked = nullptr; ///< For the maker.
};

/// challenge_maker serves all workers, which exist as long as serve is called.
class challenge_maker
{
public:
    /// wake makes another thread call serve. Any thread calls it. The opener is as in
    /// make_challenge.
    challenge_maker(std::function<void()> wake, file_opener opener);
    challenge_maker(challenge_maker&&) = delete;
    ~challenge_maker();

    /// An authority validates from some five places at once.
    static constexpr int places_max = 64;

    /// place is a connection's place among those that are answered at a time, which are bounded:
    /// each has a TLS context of its own. Any thread.
    class place
    {
    public:
        explicit place(challenge_maker& maker) noexcept
            : maker_{maker}, is_taken_{maker.open_.fetch_add(1) < places_max}
        {
        }
        place(place&&) = delete;
        ~place() { maker_.open_.fetch_sub(1); }

        [[nodiscard]] bool is_taken() const noexcept { return is_taken_; }

    private:
        challenge_maker& maker_;
        bool is_taken_;
    };

    /// submit: any thread.
    void submit(std::unique_ptr<challenge_request> asked) noexcept;

    /// serve makes what was submitted, and gives it to the workers. One thread.
    void serve() noexcept;

private:
    std::function<void()> wake_;
    file_opener opener_;
    inbox<challenge_request, &challenge_request::next_asked> asked_;
    std::atomic<int> open_{0};
};

/// challenge_arrival: a connection awaits it. It ends when `made` is complete, or with the reason
/// of the interrupt.
class [[nodiscard]] challenge_arrival : net::waiter
{
public:
    /// The maker, the interrupt and `made` outlive it. Throws std::bad_alloc.
    challenge_arrival(
        challenge_maker& maker, net::interrupt& interrupt, challenge wanted, made_challenge& made);
    challenge_arrival(challenge_arrival&&) = delete;
    ~challenge_arrival() = default;

    [[nodiscard]] bool await_ready() noexcept;
    void await_suspend(std::coroutine_handle<> caller) noexcept;
    [[nodiscard]] error_code await_resume() const noexcept { return error_; }

    /// settle: the request has come back to the worker.
    void settle(challenge_request& done);

private:
    static void on_wake(net::waiter& w, error_code ec) noexcept;

    challenge_maker& maker_;
    net::interrupt& interrupt_;
    made_challenge& made_;
    std::unique_ptr<challenge_request> unsent_; // Until the caller waits.
    challenge_request* sent_ = nullptr;
    std::coroutine_handle<> caller_;
    error_code error_;
};

} // namespace cleat::app
